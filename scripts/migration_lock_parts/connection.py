"""A connection to the service that costs little: hundreds of thousands of requests a minute are sent from one process."""

import asyncio


class Refused(Exception):
    """There is no answer: the service cannot be reached, or has ended."""


class Connection(asyncio.Protocol):
    """Sends one request after the other."""

    @classmethod
    async def open(cls, place):
        try:
            _, connection = await asyncio.get_running_loop().create_connection(cls, *place)
        except OSError as error:
            raise Refused(str(error)) from error
        return connection

    def connection_made(self, transport):
        self.transport, self.received, self.answer = transport, b"", None
        self.is_open = True

    def data_received(self, data):
        self.received += data
        head, separator, body = self.received.partition(b"\r\n\r\n")
        if not separator:
            return
        fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
        if len(body) < int(fields.get(b"content-length", 0)):
            return
        self.received = b""
        if fields.get(b"connection") == b"close":
            self.close()
        if self.answer and not self.answer.done():
            self.answer.set_result((int(head[9:12]), body))

    def connection_lost(self, error):
        self.is_open = False
        if self.answer and not self.answer.done():
            self.answer.set_exception(Refused(f"the connection was closed: {error}"))

    async def ask(self, request, seconds=10):
        """Returns the status and the body."""
        if not self.is_open:
            raise Refused("the connection was closed")
        self.answer = asyncio.get_running_loop().create_future()
        self.transport.write(request)
        try:
            return await asyncio.wait_for(self.answer, seconds)
        except asyncio.TimeoutError:
            self.close()
            raise Refused(f"no answer within {seconds} seconds") from None

    def close(self):
        self.is_open = False
        self.transport.close()


def post(path, body=b"", headers=""):
    """The bytes of a request."""
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n{headers}\r\n"
    return head.encode() + body
