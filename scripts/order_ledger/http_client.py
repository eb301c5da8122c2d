"""Requests over HTTP with a deadline, on a connection that is kept."""

import http.client
import json


class Client:
    def __init__(self, address, port, seconds=10):
        self.place, self.seconds = (address, port), seconds
        self.connection = None

    def ask(self, method, path, body=None, headers=None):
        """Returns the status and the body, or raises OSError or http.client.HTTPException."""
        if self.connection is None:
            self.connection = http.client.HTTPConnection(*self.place, timeout=self.seconds)
        headers = dict(headers or {})
        if body is not None:
            body = json.dumps(body).encode()
            headers["Content-Type"] = "application/json"
        elif method == "POST":
            body = b""
        try:
            self.connection.request(method, path, body, headers)
            answer = self.connection.getresponse()
            received = answer.read()
            if answer.will_close:
                self.close()
            return answer.status, received
        except BaseException:
            self.close()
            raise

    def close(self):
        if self.connection is not None:
            self.connection.close()
            self.connection = None


def ask_once(address, port, path, method="GET", body=None, seconds=2):
    """The status and the body of a request on a new connection; 0 and nothing if there is no answer."""
    client = Client(address, port, seconds)
    try:
        return client.ask(method, path, body)
    except (OSError, http.client.HTTPException):
        return 0, b""
    finally:
        client.close()
