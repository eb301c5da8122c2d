// Fetches Garson's events, for a shop without a public address, and stores each of them once. Needs Java 17 or newer.
//
//   KEY_FILE=key URL=https://orders.example.com java Poller.java
//
// KEY_FILE (or KEY): an API key. URL: where Garson is. DATA: the folder of events.jsonl and cursor, by default the current one.
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

public class Poller {
    static final int WAIT_SECONDS = 30;
    // The whole request, with the time that Garson waits for an event.
    static final int REQUEST_SECONDS = WAIT_SECONDS + 15;
    static final int MAX_PAUSE = 60;
    static final int MAX_RETRY_AFTER = 600;

    /** An answer that is not a page of events. */
    static class Failed extends IOException {
        final int retryAfter;

        Failed(HttpResponse<String> response) {
            super("Garson answered " + response.statusCode());
            // It may also be a date, which a proxy sends.
            String seconds = response.headers().firstValue("Retry-After").filter(text -> text.matches("[0-9]{1,9}")).orElse("0");
            retryAfter = Math.min(Integer.parseInt(seconds), MAX_RETRY_AFTER);
        }
    }

    static class Journal {
        private final FileChannel file;
        private final Set<String> ids = new HashSet<>();
        private long size;
        private boolean failed;

        Journal(Path path) throws IOException {
            file = FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
            byte[] bytes = Files.readAllBytes(path);
            int start = 0;
            for (int i = 0; i < bytes.length; i++) {
                if (bytes[i] != '\n') continue;
                ids.add(id(Json.parse(new String(bytes, start, i - start, StandardCharsets.UTF_8))));
                start = i + 1;
            }
            // A crash may have left half a line. The cursor is older than it, so it is fetched again.
            size = start;
            file.truncate(size);
            file.force(true);
        }

        /** Stores the events that are new. They are given newest first. */
        void add(List<Json> events) throws IOException {
            List<String> fresh = new ArrayList<>();
            StringBuilder lines = new StringBuilder();
            for (int i = events.size() - 1; i >= 0; i--) {
                Json event = events.get(i);
                if (ids.contains(id(event))) continue;
                fresh.add(id(event));
                // Outside of strings, a line break in JSON means the same as a space; inside there is none.
                lines.append(event.text().replace('\r', ' ').replace('\n', ' ')).append('\n');
            }
            if (fresh.isEmpty()) return;
            if (failed) file.truncate(size); // what the failed attempt has left
            size = file.size();
            failed = true;
            ByteBuffer bytes = StandardCharsets.UTF_8.encode(lines.toString());
            while (bytes.hasRemaining()) file.write(bytes);
            file.force(true);
            failed = false;
            ids.addAll(fresh);
        }

        private static String id(Json event) {
            String id = event.at("veri").at("id").string();
            if (id == null) throw new IllegalArgumentException("an event has no id");
            return id;
        }
    }

    /** Replaces the file by a complete one: a crash leaves the old cursor or the new one. */
    static void storeCursor(Path path, String cursor) throws IOException {
        Path temporary = path.resolveSibling(path.getFileName() + ".new");
        try (FileChannel file = FileChannel.open(temporary, StandardOpenOption.CREATE, StandardOpenOption.WRITE,
                StandardOpenOption.TRUNCATE_EXISTING)) {
            ByteBuffer bytes = StandardCharsets.UTF_8.encode(cursor);
            while (bytes.hasRemaining()) file.write(bytes);
            file.force(true);
        }
        Files.move(temporary, path, StandardCopyOption.ATOMIC_MOVE);
    }

    /** Ends the program: repeating the request would not help. */
    static void giveUp(String reason) {
        System.err.println(reason);
        System.exit(1);
    }

    // By default it follows no redirect, which would take the key to another host.
    final HttpClient client = HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(15)).build();
    final String url;
    final String key;

    Poller(String url, String key) {
        this.url = url;
        this.key = key;
    }

    /** The events after the cursor, newest first, and the next cursor. Waits until there are some, up to WAIT_SECONDS. */
    Json fetch(String cursor) throws IOException, InterruptedException {
        String query = "dir=prev&limit=100&wait=" + WAIT_SECONDS + (cursor == null ? "" : "&cursor=" + cursor);
        HttpRequest request = HttpRequest.newBuilder(URI.create(url + "/web-api/v1/events?" + query))
                .header("Authorization", "Bearer " + key).build();
        CompletableFuture<HttpResponse<String>> sending = client.sendAsync(request, HttpResponse.BodyHandlers.ofString());
        HttpResponse<String> response;
        try {
            // A timeout of the request would end with the head of the answer.
            response = sending.get(REQUEST_SECONDS, TimeUnit.SECONDS);
        } catch (TimeoutException error) {
            throw new IOException("the answer takes too long", error);
        } catch (ExecutionException error) {
            throw new IOException(error.getCause());
        } finally {
            sending.cancel(true);
        }
        if (response.statusCode() == 401) giveUp("Garson refuses the key");
        if (response.statusCode() == 422) {
            giveUp("The events after the cursor are not kept any more: read the orders, delete the cursor, start again");
        }
        if (response.statusCode() != 200) throw new Failed(response);
        return Json.parse(response.body());
    }

    void run(Path data) throws IOException, InterruptedException {
        Journal journal = new Journal(data.resolve("events.jsonl"));
        Path cursorFile = data.resolve("cursor");
        String cursor = Files.exists(cursorFile) ? Files.readString(cursorFile) : null;
        int failures = 0;
        // It may be killed at any time: what is stored is complete, and the rest is fetched again.
        while (true) {
            long began = System.nanoTime();
            try {
                Json page = fetch(cursor);
                List<Json> events = page.at("data").items();
                String next = page.at("paging").at("prev").string();
                if (events == null || next == null) throw new IOException("the answer is not a page of events");
                // In this order: after a crash between the two, the events are fetched again, and their ids are known.
                journal.add(events);
                if (!next.equals(cursor)) storeCursor(cursorFile, next);
                cursor = next;
                failures = 0;
                if (!events.isEmpty()) {
                    System.out.println(events.size() + " events, up to " + cursor);
                } else if (System.nanoTime() - began < 1_000_000_000L) {
                    Thread.sleep(1000); // A server that is about to stop does not wait.
                }
            } catch (IOException | IllegalArgumentException error) {
                // Random, so that many shops do not return at the same moment after an outage.
                double pause = Math.min(1 << failures, MAX_PAUSE) * ThreadLocalRandom.current().nextDouble(0.5, 1);
                if (error instanceof Failed answer) pause = Math.max(pause, answer.retryAfter);
                failures = Math.min(failures + 1, 10);
                System.err.printf("%s; again in %.1f s%n", error.getMessage(), pause);
                Thread.sleep((long) (pause * 1000));
            }
        }
    }

    static String setting(String name, String otherwise) {
        String value = System.getenv(name);
        return value == null || value.isEmpty() ? otherwise : value;
    }

    public static void main(String[] args) throws IOException, InterruptedException {
        String file = setting("KEY_FILE", "");
        String key = file.isEmpty() ? setting("KEY", "") : Files.readString(Path.of(file)).strip();
        if (key.isEmpty()) giveUp("set KEY_FILE to a file with the API key, or KEY to the key");
        new Poller(setting("URL", "http://127.0.0.1:8080").replaceAll("/+$", ""), key).run(Path.of(setting("DATA", ".")));
    }
}

/**
 * A JSON value, with its text in the document. The JDK has no JSON parser, and this file runs without others: use that of your
 * framework instead.
 */
record Json(Object value, String text) {
    static Json parse(String text) {
        Reader reader = new Reader(text);
        Json document = reader.value(0);
        reader.space();
        if (reader.at < text.length()) throw reader.invalid();
        return document;
    }

    /** A member of an object; if there is none, a value that is neither text nor number. */
    Json at(String name) {
        return value instanceof Map<?, ?> members && members.get(name) instanceof Json member ? member : new Json(null, "null");
    }

    String string() {
        return value instanceof String string ? string : null;
    }

    @SuppressWarnings("unchecked")
    List<Json> items() {
        return value instanceof List<?> items ? (List<Json>) items : null;
    }

    private static class Reader {
        static final Pattern WORD = Pattern.compile("-?(0|[1-9]\\d*)(\\.\\d+)?([eE][-+]?\\d+)?|true|false|null");
        final String text;
        int at;

        Reader(String text) {
            this.text = text;
        }

        Json value(int depth) {
            if (depth > 100) throw invalid(); // A deeper document could exhaust the stack.
            space();
            int start = at;
            Object value;
            if (skip('{')) {
                Map<String, Json> members = new HashMap<>();
                for (boolean more = !skip('}'); more; more = !ends('}')) {
                    need('"');
                    String name = string();
                    need(':');
                    members.put(name, value(depth + 1));
                }
                value = members;
            } else if (skip('[')) {
                List<Json> items = new ArrayList<>();
                for (boolean more = !skip(']'); more; more = !ends(']')) items.add(value(depth + 1));
                value = items;
            } else if (skip('"')) {
                value = string();
            } else {
                Matcher word = WORD.matcher(text).region(at, text.length());
                if (!word.lookingAt()) throw invalid();
                at = word.end();
                value = word.group(1) == null ? null : Double.valueOf(word.group());
            }
            return new Json(value, text.substring(start, at));
        }

        /** The rest of a string after its first quote. */
        String string() {
            StringBuilder found = new StringBuilder();
            for (char c = next(); c != '"'; c = next()) {
                if (c < ' ') throw invalid();
                if (c == '\\') {
                    int escape = "\"\\/bfnrtu".indexOf(next());
                    if (escape < 0) throw invalid();
                    c = escape < 8 ? "\"\\/\b\f\n\r\t".charAt(escape) : (char) (hex() << 12 | hex() << 8 | hex() << 4 | hex());
                }
                found.append(c);
            }
            return found.toString();
        }

        int hex() {
            int digit = Character.digit(next(), 16);
            if (digit < 0) throw invalid();
            return digit;
        }

        char next() {
            if (at == text.length()) throw invalid();
            return text.charAt(at++);
        }

        void space() {
            while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) at++;
        }

        boolean skip(char wanted) {
            space();
            boolean found = at < text.length() && text.charAt(at) == wanted;
            if (found) at++;
            return found;
        }

        void need(char wanted) {
            if (!skip(wanted)) throw invalid();
        }

        /** After an item of a list: does the list end here? Otherwise there is a comma. */
        boolean ends(char end) {
            if (skip(end)) return true;
            need(',');
            return false;
        }

        IllegalArgumentException invalid() {
            return new IllegalArgumentException("invalid JSON at character " + at);
        }
    }
}
