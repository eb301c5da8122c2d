-- Who a user is for the installation's OpenID Connect provider: the provider's issuer, and its id of the user.
ALTER TABLE users ADD COLUMN openid_issuer TEXT;
ALTER TABLE users ADD COLUMN openid_subject TEXT;
CREATE UNIQUE INDEX users_by_openid ON users (openid_issuer, openid_subject) WHERE openid_subject IS NOT NULL;
