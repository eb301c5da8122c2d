// A certified OpenID Connect provider for scripts/openid-connect: everybody may sign in with any password, and has the address
// NAME@example.com.
//
// usage: openid_provider.mjs PORT REDIRECT_URI
import process from "node:process";
import { Provider } from "oidc-provider";

const [port, redirect] = process.argv.slice(2);
const provider = new Provider(`http://127.0.0.1:${port}`, {
  clients: [
    {
      client_id: "garson",
      client_secret: "the secret of the client: 0123456789",
      redirect_uris: [redirect],
      grant_types: ["authorization_code"],
      response_types: ["code"],
    },
  ],
  claims: { openid: ["sub"], email: ["email", "email_verified"] },
  pkce: { required: () => true },
  async findAccount(_, id) {
    return {
      accountId: id,
      async claims() {
        return { sub: id, email: `${id}@example.com`, email_verified: id !== "unverified" };
      },
    };
  },
});
provider.listen(Number(port), "127.0.0.1");
