// Receives Garson's events and stores each of them once, in a file with an event in each line. For .NET, .NET Framework and Mono.
//
//   mcs Receiver.cs Json.cs
//   KEY_FILE=key mono Receiver.exe
//
// With .NET: put both files into a new console project instead of its Program.cs, and `dotnet run`.
//
// KEY_FILE (or KEY): the account's primary API key. PORT: 3000. DATA: the folder of events.jsonl, by default the current one.
using System;
using System.Collections.Generic;
using System.IO;
using System.Net;
using System.Security.Cryptography;
using System.Text;
using System.Threading;
using System.Threading.Tasks;

/// <summary>The stored events. The lock keeps two deliveries of an event from overtaking each other between check and
/// write.</summary>
sealed class Journal
{
    readonly FileStream file;
    readonly HashSet<string> ids = new HashSet<string>();
    /// <summary>The newest event of each order.</summary>
    readonly Dictionary<string, Json> orders = new Dictionary<string, Json>();
    long size;
    bool failed;

    public Journal(string path)
    {
        // Without a buffer: a failed write must not be repeated later.
        file = new FileStream(path, FileMode.OpenOrCreate, FileAccess.ReadWrite, FileShare.Read, 1);
        var bytes = new byte[file.Length];
        for (int read = 0; read < bytes.Length;) read += file.Read(bytes, read, bytes.Length - read);
        int start = 0;
        for (int i = 0; i < bytes.Length; i++)
        {
            if (bytes[i] != '\n') continue;
            Remember(Json.Parse(Encoding.UTF8.GetString(bytes, start, i - start)));
            start = i + 1;
        }
        // A crash may have left half a line. It was not acknowledged, so it is sent again.
        size = start;
        file.SetLength(size);
        file.Flush(true);
    }

    /// <summary>Stores an event. Returns what it was: new, known or late.</summary>
    public string Add(Json e, string text)
    {
        lock (ids)
        {
            if (ids.Contains(e["veri"]["id"].String)) return "known";
            if (failed) file.SetLength(size); // what the failed attempt has left
            size = file.Seek(0, SeekOrigin.End);
            failed = true;
            // Outside of strings, a line break in JSON means the same as a space; inside there is none.
            var line = Encoding.UTF8.GetBytes(text.Replace('\r', ' ').Replace('\n', ' ') + "\n");
            file.Write(line, 0, line.Length);
            // To the disk. Mono does not report an error of this step; .NET does.
            file.Flush(true);
            failed = false;
            return Remember(e);
        }
    }

    string Remember(Json e)
    {
        var veri = e["veri"];
        ids.Add(veri["id"].String);
        string order = veri["orderId"].String;
        if (order == null) return "new"; // It is not about an order.
        // A later event may have come first: it stays the state of the order.
        Json newest;
        if (orders.TryGetValue(order, out newest) && newest["veri"]["sequence"].Number > veri["sequence"].Number) return "late";
        orders[order] = e;
        return "new";
    }
}

static class Receiver
{
    const int MaxBody = 1024 * 1024;
    // Garson waits 10 seconds for an answer. A request that takes longer is useless, and holds a connection.
    static readonly TimeSpan RequestTime = TimeSpan.FromSeconds(10);
    static readonly UTF8Encoding Utf8 = new UTF8Encoding(false, true);
    static byte[] authorization;
    static Journal journal;
    static int running;

    static async Task Answer(HttpListenerContext context)
    {
        Interlocked.Increment(ref running);
        try
        {
            // Its default is 200.
            context.Response.StatusCode = 500;
            int status = 500;
            try
            {
                status = await Handle(context.Request);
            }
            catch (Exception error) // Whatever it was: the event is not stored, and Garson must send it again.
            {
                Console.Error.WriteLine("failed: " + error.Message);
            }
            context.Response.StatusCode = status;
            context.Response.KeepAlive = status == 200;
            if (status == 405) context.Response.AddHeader("Allow", "POST");
            context.Response.ContentLength64 = 0;
            context.Response.Close();
        }
        catch (Exception error)
        {
            Console.Error.WriteLine("no answer: " + error.Message); // The sender has gone.
        }
        finally
        {
            Interlocked.Decrement(ref running);
        }
    }

    static async Task<int> Handle(HttpListenerRequest request)
    {
        if (request.HttpMethod != "POST") return 405;
        var given = Encoding.UTF8.GetBytes(request.Headers["Authorization"] ?? "");
        if (!CryptographicOperations.FixedTimeEquals(given, authorization)) return 401;
        var limit = Task.Delay(RequestTime);
        var reading = Read(request);
        if (await Task.WhenAny(reading, limit) == limit) return 408;
        var body = await reading;
        if (body == null) return 413;
        string text;
        Json e;
        try
        {
            text = Utf8.GetString(body);
            e = Json.Parse(text);
        }
        catch (ArgumentException) // not UTF-8
        {
            return 400;
        }
        catch (FormatException)
        {
            return 400;
        }
        string id = e["veri"]["id"].String;
        if (id == null) return 400;
        Console.WriteLine(journal.Add(e, text) + " " + e["olay"].String + " " + id);
        return 200;
    }

    /// <summary>The body, or null if it is too large. The rest is read nevertheless: a sender that still writes might miss the
    /// answer.</summary>
    static async Task<byte[]> Read(HttpListenerRequest request)
    {
        var body = new MemoryStream();
        var buffer = new byte[65536];
        long length = 0;
        while (true)
        {
            int count = await request.InputStream.ReadAsync(buffer, 0, buffer.Length);
            if (count == 0) break;
            length += count;
            if (length <= MaxBody) body.Write(buffer, 0, count);
        }
        return length <= MaxBody ? body.ToArray() : null;
    }

    static string Setting(string name, string otherwise)
    {
        string value = Environment.GetEnvironmentVariable(name);
        return string.IsNullOrEmpty(value) ? otherwise : value;
    }

    static int Main()
    {
        string file = Setting("KEY_FILE", "");
        string key = file == "" ? Setting("KEY", "") : File.ReadAllText(file).Trim();
        if (key == "")
        {
            Console.Error.WriteLine("set KEY_FILE to a file with the API key, or KEY to the key");
            return 1;
        }
        authorization = Encoding.UTF8.GetBytes("Bearer " + key);
        // This machine only: put a proxy with TLS in front of it, which sends this Host.
        string address = "http://127.0.0.1:" + Setting("PORT", "3000") + "/";
        var listener = new HttpListener();
        listener.Prefixes.Add(address);
        listener.Start(); // The port comes first: a second receiver fails here.
        journal = new Journal(Path.Combine(Setting("DATA", "."), "events.jsonl"));
        // With .NET, SIGTERM waits for the requests that are running. Mono ends at once: Garson sends again what was not answered.
        AppDomain.CurrentDomain.ProcessExit += (sender, arguments) =>
            SpinWait.SpinUntil(() => Volatile.Read(ref running) == 0, RequestTime);
        Console.WriteLine("listening on " + address);
        while (true)
        {
            var context = listener.GetContext();
            Task.Run(() => Answer(context));
        }
    }
}
