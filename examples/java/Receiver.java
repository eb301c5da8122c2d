// Receives Garson's events and stores each of them once, in a file with an event in each line. Needs Java 17 or newer.
//
//   KEY_FILE=key java Receiver.java
//
// KEY_FILE (or KEY): the account's primary API key. PORT: 3000. DATA: the folder of events.jsonl, by default the current one.
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

public class Receiver {
    static final int MAX_BODY = 1024 * 1024;

    final byte[] authorization;
    final Journal journal;

    Receiver(String key, Journal journal) {
        this.authorization = ("Bearer " + key).getBytes(StandardCharsets.UTF_8);
        this.journal = journal;
    }

    void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            int status = 500;
            try {
                status = handle(exchange);
            } catch (IOException | RuntimeException error) {
                // The event is not stored, and Garson must send it again.
                System.err.println("failed: " + error);
            }
            if (status == 405) exchange.getResponseHeaders().set("Allow", "POST");
            exchange.sendResponseHeaders(status, -1);
        }
    }

    int handle(HttpExchange exchange) throws IOException {
        if (!exchange.getRequestMethod().equals("POST")) return 405;
        String given = exchange.getRequestHeaders().getFirst("Authorization");
        // In constant time.
        if (given == null || !MessageDigest.isEqual(given.getBytes(StandardCharsets.UTF_8), authorization)) return 401;
        byte[] body = exchange.getRequestBody().readNBytes(MAX_BODY + 1);
        if (body.length > MAX_BODY) {
            // A sender that still writes might miss the answer.
            exchange.getRequestBody().transferTo(OutputStream.nullOutputStream());
            return 413;
        }
        String text;
        Json event;
        try {
            text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(body)).toString();
            event = Json.parse(text);
        } catch (CharacterCodingException | IllegalArgumentException error) {
            return 400;
        }
        String id = event.at("veri").at("id").string();
        if (id == null) return 400;
        System.out.println(journal.add(event, text) + " " + event.at("olay").string() + " " + id);
        return 200;
    }

    /** The stored events. The lock keeps two deliveries of an event from overtaking each other between check and write. */
    static class Journal {
        private final FileChannel file;
        private final Set<String> ids = new HashSet<>();
        /** The newest event of each order. */
        private final Map<String, Json> orders = new HashMap<>();
        private long size;
        private boolean failed;

        Journal(Path path) throws IOException {
            file = FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
            byte[] bytes = Files.readAllBytes(path);
            int start = 0;
            for (int i = 0; i < bytes.length; i++) {
                if (bytes[i] != '\n') continue;
                remember(Json.parse(new String(bytes, start, i - start, StandardCharsets.UTF_8)));
                start = i + 1;
            }
            // A crash may have left half a line. It was not acknowledged, so it is sent again.
            size = start;
            file.truncate(size);
            file.force(true);
        }

        /** Stores an event. Returns what it was: new, known or late. */
        synchronized String add(Json event, String text) throws IOException {
            if (ids.contains(event.at("veri").at("id").string())) return "known";
            if (failed) file.truncate(size); // what the failed attempt has left
            size = file.size();
            failed = true;
            // Outside of strings, a line break in JSON means the same as a space; inside there is none.
            String line = text.replace('\r', ' ').replace('\n', ' ') + "\n";
            ByteBuffer bytes = StandardCharsets.UTF_8.encode(line);
            while (bytes.hasRemaining()) file.write(bytes);
            file.force(true);
            failed = false;
            return remember(event);
        }

        private String remember(Json event) {
            Json veri = event.at("veri");
            ids.add(veri.at("id").string());
            String order = veri.at("orderId").string();
            if (order == null) return "new"; // It is not about an order.
            // A later event may have come first: it stays the state of the order.
            Json newest = orders.get(order);
            if (newest != null && newest.at("veri").at("sequence").number() > veri.at("sequence").number()) return "late";
            orders.put(order, event);
            return "new";
        }
    }

    static String setting(String name, String otherwise) {
        String value = System.getenv(name);
        return value == null || value.isEmpty() ? otherwise : value;
    }

    static String readKey() throws IOException {
        String file = setting("KEY_FILE", "");
        String key = file.isEmpty() ? setting("KEY", "") : Files.readString(Path.of(file)).strip();
        if (key.isEmpty()) throw new IllegalArgumentException("set KEY_FILE to a file with the API key, or KEY to the key");
        return key;
    }

    public static void main(String[] args) throws IOException {
        // Garson waits 10 seconds for an answer. A request that takes longer is useless, and holds a thread.
        System.setProperty("sun.net.httpserver.maxReqTime", "10");
        System.setProperty("sun.net.httpserver.maxRspTime", "10");
        String key = readKey();
        // This machine only: put a proxy with TLS in front of it. The port comes first: a second receiver fails here.
        InetSocketAddress address =
                new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(setting("PORT", "3000")));
        HttpServer server = HttpServer.create(address, 128);
        Receiver receiver = new Receiver(key, new Journal(Path.of(setting("DATA", "."), "events.jsonl")));
        server.createContext("/", receiver::answer);
        server.setExecutor(Executors.newCachedThreadPool());
        // SIGTERM: finish the requests that are running.
        Runtime.getRuntime().addShutdownHook(new Thread(() -> server.stop(1)));
        server.start();
        System.out.println("listening on http://127.0.0.1:" + server.getAddress().getPort() + "/");
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

    double number() {
        return value instanceof Double number ? number : 0;
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
