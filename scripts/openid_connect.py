"""A person with a browser for scripts/openid-connect: signs in at the provider, and comes back.

usage: openid_connect.py GARSON_URL
"""

import html
import http.cookiejar
import re
import sys
import urllib.error
import urllib.parse
import urllib.request


class Browser:
    """Follows redirects and keeps cookies; an error status is a page like others."""

    def __init__(self):
        self.cookies = http.cookiejar.CookieJar()
        self.opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPCookieProcessor(self.cookies)
        )

    def open(self, url, form=None):
        data = None if form is None else urllib.parse.urlencode(form).encode()
        try:
            answer = self.opener.open(url, data, timeout=30)
        except urllib.error.HTTPError as error:
            answer = error
        with answer:
            return answer.status, answer.url, answer.read().decode()

    def sign_out_of_the_provider(self):
        for cookie in list(self.cookies):
            if not cookie.name.startswith("garson_"):
                self.cookies.clear(cookie.domain, cookie.path, cookie.name)

    def sign_in(self, start, name):
        """Goes from a link of the service through the provider's forms, and returns where that ends."""
        status, url, page = self.open(start)
        for _ in range(4):
            if "/interaction/" not in url:
                break
            action = html.unescape(re.search(r'action="([^"]+)"', page)[1])
            prompt = re.search(r'name="prompt" value="(\w+)"', page)[1]
            form = {"prompt": prompt}
            if prompt == "login":
                form |= {"login": name, "password": "anything"}
            status, url, page = self.open(urllib.parse.urljoin(url, action), form)
        return status, url, page


def check(condition, seen):
    if not condition:
        status, url, page = seen
        text = " ".join(re.sub(r"<[^>]*>", " ", page).split())
        sys.exit(f"openid-connect: {status} {url}: {text[:2000]}")


garson = sys.argv[1]

ayse = Browser()
seen = ayse.sign_in(f"{garson}/sign-in/openid?next=/users", "ayse")
check(seen[0] == 200 and seen[1] == f"{garson}/users" and "ayse@example.com" in seen[2], seen)
print("an invited user is signed in")

seen = ayse.sign_in(f"{garson}/sign-in/openid?confirm=yes", "ayse")
check(seen[0] == 200 and "Doğrulandı" in seen[2], seen)
print("the user confirms a change, for which the provider asks again")

ayse.sign_out_of_the_provider()
seen = ayse.sign_in(f"{garson}/sign-in/openid?confirm=yes", "can")
check(seen[0] == 403 and "Doğrulanamadı" in seen[2], seen)
print("another person does not confirm it")

for name, text in [("stranger", "etkin bir kullanıcı yok"), ("unverified", "doğrulandığını bildirmiyor")]:
    browser = Browser()
    seen = browser.sign_in(f"{garson}/sign-in/openid", name)
    check(seen[0] == 403 and text in seen[2], seen)
    check(not any(cookie.name == "garson_session" for cookie in browser.cookies), seen)
print("a stranger and an address that is not verified are refused")
