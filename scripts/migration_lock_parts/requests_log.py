"""Reads what the senders have noted."""

import json


class RequestsLog:
    def __init__(self, path):
        self.path, self.position, self.lines = path, 0, []

    def read(self):
        with open(self.path, "rb") as file:
            file.seek(self.position)
            whole = file.read().rpartition(b"\n")[0]
        if whole:
            self.position += len(whole) + 1
            self.lines += map(json.loads, whole.split(b"\n"))
        return self.lines

    def between(self, began, ended):
        """The requests that were answered in this time, and how late the senders were themselves."""
        lines = [line for line in self.read() if began <= line["began"] and line["began"] + line["took"] <= ended]
        return [line for line in lines if line.get("status")], [line for line in lines if line["kind"] == "late"]

    def has_answer_since(self, time):
        return any(line["began"] >= time and line.get("status") == 200 for line in reversed(self.read()))

    def acknowledged(self):
        return {line["number"]: line["record"] for line in self.read() if line["kind"] == "order" and line["status"] == 200}

    def refused(self):
        """Answers that no client should get: neither success nor the demand to try again."""
        return [line for line in self.read() if line.get("status", 0) not in (0, 200, 429, 503)]


class Answers:
    """How long the answers took, in ms."""

    def __init__(self, log, *windows):
        answered, late = [], []
        for began, ended in windows:
            more_answered, more_late = log.between(began, ended)
            answered += more_answered
            late += more_late
        self.count = len(answered)
        times = sorted(line["took"] * 1000 for line in answered)
        self.longest = times[-1] if times else None
        self.percentile99 = times[int(len(times) * 0.99)] if times else None
        self.slowest = max(answered, key=lambda line: line["took"], default=None)
        # How much of it may be the fault of the senders.
        self.late = max((line["took"] * 1000 for line in late), default=0.0)
