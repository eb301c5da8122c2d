// Fetches Garson's events, for a shop without a public address, and stores each of them once. For .NET, .NET Framework and Mono.
//
//   mcs -r:System.Net.Http Poller.cs Json.cs
//   KEY_FILE=key URL=https://orders.example.com mono Poller.exe
//
// With .NET: put both files into a new console project instead of its Program.cs, and `dotnet run`.
//
// KEY_FILE (or KEY): an API key. URL: where Garson is. DATA: the folder of events.jsonl and cursor, by default the current one.
using System;
using System.Collections.Generic;
using System.IO;
using System.Net;
using System.Net.Http;
using System.Text;
using System.Threading;
using System.Threading.Tasks;

/// <summary>An answer that is not a page of events.</summary>
sealed class FailedException : IOException
{
    public readonly TimeSpan RetryAfter;

    public FailedException(HttpResponseMessage response) : base("Garson answered " + (int)response.StatusCode)
    {
        // It may also be a date, which a proxy sends.
        var header = response.Headers.RetryAfter;
        var given = header != null && header.Delta.HasValue ? header.Delta.Value : TimeSpan.Zero;
        RetryAfter = given < Poller.MaxRetryAfter ? given : Poller.MaxRetryAfter;
    }
}

/// <summary>Repeating the request would not help.</summary>
sealed class GiveUpException : Exception
{
    public GiveUpException(string reason) : base(reason)
    {
    }
}

sealed class Journal
{
    readonly FileStream file;
    readonly HashSet<string> ids = new HashSet<string>();
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
            ids.Add(IdOf(Json.Parse(Encoding.UTF8.GetString(bytes, start, i - start))));
            start = i + 1;
        }
        // A crash may have left half a line. The cursor is older than it, so it is fetched again.
        size = start;
        file.SetLength(size);
        file.Flush(true);
    }

    /// <summary>Stores the events that are new. They are given newest first.</summary>
    public void Add(List<Json> events)
    {
        var fresh = new List<string>();
        var lines = new StringBuilder();
        for (int i = events.Count - 1; i >= 0; i--)
        {
            string id = IdOf(events[i]);
            if (ids.Contains(id)) continue;
            fresh.Add(id);
            // Outside of strings, a line break in JSON means the same as a space; inside there is none.
            lines.Append(events[i].Text.Replace('\r', ' ').Replace('\n', ' ')).Append('\n');
        }
        if (fresh.Count == 0) return;
        if (failed) file.SetLength(size); // what the failed attempt has left
        size = file.Seek(0, SeekOrigin.End);
        failed = true;
        var bytes = Encoding.UTF8.GetBytes(lines.ToString());
        file.Write(bytes, 0, bytes.Length);
        // To the disk. Mono does not report an error of this step; .NET does.
        file.Flush(true);
        failed = false;
        ids.UnionWith(fresh);
    }

    static string IdOf(Json e)
    {
        string id = e["veri"]["id"].String;
        if (id == null) throw new FormatException("an event has no id");
        return id;
    }
}

static class Poller
{
    const int WaitSeconds = 30;
    // The whole request, with the time that Garson waits for an event.
    static readonly TimeSpan RequestTime = TimeSpan.FromSeconds(WaitSeconds + 15);
    static readonly TimeSpan MaxPause = TimeSpan.FromSeconds(60);
    public static readonly TimeSpan MaxRetryAfter = TimeSpan.FromMinutes(10);
    static readonly Random Chance = new Random();

    /// <summary>Replaces the file by a complete one: a crash leaves the old cursor or the new one.</summary>
    static void StoreCursor(string path, string cursor)
    {
        using (var file = new FileStream(path + ".new", FileMode.Create, FileAccess.Write))
        {
            var bytes = Encoding.UTF8.GetBytes(cursor);
            file.Write(bytes, 0, bytes.Length);
            file.Flush(true);
        }
        if (File.Exists(path)) File.Replace(path + ".new", path, null);
        else File.Move(path + ".new", path);
    }

    /// <summary>The events after the cursor, newest first, and the next cursor. Waits until there are some.</summary>
    static async Task<Json> Fetch(HttpClient client, string url, string cursor)
    {
        string query = "dir=prev&limit=100&wait=" + WaitSeconds + (cursor == null ? "" : "&cursor=" + cursor);
        using (var response = await client.GetAsync(url + "/web-api/v1/events?" + query))
        {
            if (response.StatusCode == HttpStatusCode.Unauthorized) throw new GiveUpException("Garson refuses the key");
            if ((int)response.StatusCode == 422)
                throw new GiveUpException("The events after the cursor are not kept any more: "
                    + "read the orders, delete the cursor, start again");
            if (response.StatusCode != HttpStatusCode.OK) throw new FailedException(response);
            return Json.Parse(Encoding.UTF8.GetString(await response.Content.ReadAsByteArrayAsync()));
        }
    }

    static string Setting(string name, string otherwise)
    {
        string value = Environment.GetEnvironmentVariable(name);
        return string.IsNullOrEmpty(value) ? otherwise : value;
    }

    static int Main()
    {
        try
        {
            Run();
            return 0;
        }
        catch (GiveUpException error)
        {
            Console.Error.WriteLine(error.Message);
            return 1;
        }
    }

    static void Run()
    {
        string keyFile = Setting("KEY_FILE", "");
        string key = keyFile == "" ? Setting("KEY", "") : File.ReadAllText(keyFile).Trim();
        if (key == "") throw new GiveUpException("set KEY_FILE to a file with the API key, or KEY to the key");
        string url = Setting("URL", "http://127.0.0.1:8080").TrimEnd('/');
        string data = Setting("DATA", ".");
        var journal = new Journal(Path.Combine(data, "events.jsonl"));
        string cursorFile = Path.Combine(data, "cursor");
        string cursor = File.Exists(cursorFile) ? File.ReadAllText(cursorFile) : null;
        // A redirect would take the key to another host.
        var client = new HttpClient(new HttpClientHandler { AllowAutoRedirect = false }) { Timeout = RequestTime };
        client.DefaultRequestHeaders.Add("Authorization", "Bearer " + key);
        int failures = 0;
        // It may be killed at any time: what is stored is complete, and the rest is fetched again.
        while (true)
        {
            var began = DateTime.UtcNow;
            try
            {
                var page = Fetch(client, url, cursor).GetAwaiter().GetResult();
                var events = page["data"].Items;
                string next = page["paging"]["prev"].String;
                if (events == null || next == null) throw new FormatException("the answer is not a page of events");
                // In this order: after a crash between the two, the events are fetched again, and their ids are known.
                journal.Add(events);
                if (next != cursor) StoreCursor(cursorFile, next);
                cursor = next;
                failures = 0;
                if (events.Count > 0) Console.WriteLine(events.Count + " events, up to " + cursor);
                else if (DateTime.UtcNow - began < TimeSpan.FromSeconds(1)) Thread.Sleep(1000); // It is about to stop.
            }
            catch (Exception error) when (error is IOException || error is HttpRequestException || error is WebException
                || error is OperationCanceledException || error is FormatException || error is UnauthorizedAccessException)
            {
                // Random, so that many shops do not return at the same moment after an outage.
                double seconds = Math.Min(1 << failures, MaxPause.TotalSeconds) * (0.5 + Chance.NextDouble() / 2);
                var pause = TimeSpan.FromSeconds(seconds);
                var refusal = error as FailedException;
                if (refusal != null && refusal.RetryAfter > pause) pause = refusal.RetryAfter;
                failures = Math.Min(failures + 1, 10);
                Console.Error.WriteLine("{0}; again in {1:F1} s", error.Message, pause.TotalSeconds);
                Thread.Sleep(pause);
            }
        }
    }
}
