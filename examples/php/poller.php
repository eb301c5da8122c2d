<?php
// Fetches Garson's events, for a shop without a public address, and stores each of them once. Needs PHP 8.1 or newer.
//
//   KEY_FILE=key URL=https://orders.example.com php poller.php
//
// KEY_FILE (or KEY): an API key. URL: where Garson is. DATA: the folder of events.jsonl and cursor, by default the current one.
declare(strict_types=1);

const WAIT_SECONDS = 30;
// The whole request, with the time that Garson waits for an event.
const REQUEST_SECONDS = WAIT_SECONDS + 15;
const MAX_PAUSE = 60;
const MAX_RETRY_AFTER = 600;

/** A request that may succeed later. */
final class Failed extends RuntimeException
{
    public function __construct(string $message, public readonly int $retryAfter = 0)
    {
        parent::__construct($message);
    }
}

final class Journal
{
    /** @var array<string, true> */
    private array $ids = [];
    /** @var resource */
    private $file;
    private int $size = 0;
    private bool $failed = false;

    public function __construct(string $path)
    {
        $this->file = fopen($path, 'a+b');
        rewind($this->file);
        while (($line = fgets($this->file)) !== false && str_ends_with($line, "\n")) {
            $this->size += strlen($line);
            $this->ids[json_decode($line, flags: JSON_THROW_ON_ERROR)->veri->id] = true;
        }
        // A crash may have left half a line. The cursor is older than it, so it is fetched again.
        $this->require(ftruncate($this->file, $this->size) && fsync($this->file));
    }

    /** Stores the events that are new. */
    public function add(array $events): void
    {
        $fresh = array_filter($events, fn (object $event) => !isset($this->ids[$event->veri->id]));
        if ($fresh === []) {
            return;
        }
        if ($this->failed) {
            $this->require(ftruncate($this->file, $this->size)); // what the failed attempt has left
        }
        $this->size = fstat($this->file)['size'];
        $this->failed = true;
        $flags = JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES | JSON_PRESERVE_ZERO_FRACTION | JSON_THROW_ON_ERROR;
        $text = implode('', array_map(fn (object $event) => json_encode($event, $flags) . "\n", $fresh));
        $this->require(fwrite($this->file, $text) === strlen($text) && fflush($this->file) && fsync($this->file));
        $this->failed = false;
        foreach ($fresh as $event) {
            $this->ids[$event->veri->id] = true;
        }
    }

    private function require(bool $done): void
    {
        $done || throw new Failed('cannot write events.jsonl');
    }
}

/** Replaces the file by a complete one: a crash leaves the old cursor or the new one. */
function store_cursor(string $path, string $cursor): void
{
    $file = fopen("$path.new", 'wb');
    if (fwrite($file, $cursor) !== strlen($cursor) || !fflush($file) || !fsync($file) || !fclose($file)) {
        throw new Failed("cannot write $path.new");
    }
    rename("$path.new", $path);
}

/** Ends the program: repeating the request would not help. */
function give_up(string $reason): never
{
    fwrite(STDERR, "$reason\n");
    exit(1);
}

/** The events after the cursor, oldest first, and the next cursor. Waits until there are some, up to WAIT_SECONDS. */
function fetch_page(string $url, string $key, ?string $cursor): array
{
    $query = ['dir' => 'prev', 'limit' => 100, 'wait' => WAIT_SECONDS] + ($cursor === null ? [] : ['cursor' => $cursor]);
    // A redirect would take the key to another host.
    $options = ['header' => "Authorization: Bearer $key", 'follow_location' => 0];
    $options += ['timeout' => REQUEST_SECONDS, 'ignore_errors' => true];
    $context = stream_context_create(['http' => $options]);
    $ends = microtime(true) + REQUEST_SECONDS;
    $stream = fopen("$url/web-api/v1/events?" . http_build_query($query), 'rb', false, $context);
    $headers = stream_get_meta_data($stream)['wrapper_data'];
    $body = '';
    while (!feof($stream)) {
        $body .= fread($stream, 65536);
        // The timeout of the stream begins again with each byte.
        if (microtime(true) > $ends || stream_get_meta_data($stream)['timed_out']) {
            throw new Failed('the answer takes too long');
        }
    }
    $status = (int) explode(' ', $headers[0])[1];
    if ($status === 401) {
        give_up('Garson refuses the key');
    }
    if ($status === 422) {
        give_up('The events after the cursor are not kept any more: read the orders, delete the cursor, start again');
    }
    if ($status !== 200) {
        // It may also be a date, which a proxy sends.
        $found = preg_grep('/^retry-after:\s*\d{1,9}\s*$/i', $headers);
        $seconds = $found === [] ? 0 : (int) trim(explode(':', reset($found))[1]);
        throw new Failed("Garson answered $status", min($seconds, MAX_RETRY_AFTER));
    }
    $page = json_decode($body, flags: JSON_THROW_ON_ERROR);
    return [array_reverse($page->data), $page->paging->prev];
}

set_error_handler(fn (int $level, string $message) => throw new ErrorException($message));
$url = rtrim(getenv('URL') ?: 'http://127.0.0.1:8080', '/');
$key = getenv('KEY_FILE') ? trim(file_get_contents(getenv('KEY_FILE'))) : (string) getenv('KEY');
$key !== '' || give_up('set KEY_FILE to a file with the API key, or KEY to the key');
$data = getenv('DATA') ?: '.';
$journal = new Journal("$data/events.jsonl");
$cursor = is_file("$data/cursor") ? file_get_contents("$data/cursor") : null;
$failures = 0;

// It may be killed at any time: what is stored is complete, and the rest is fetched again.
while (true) {
    $began = microtime(true);
    try {
        [$events, $next] = fetch_page($url, $key, $cursor);
        // In this order: after a crash between the two, the events are fetched again, and their ids are known.
        $journal->add($events);
        if ($next !== $cursor) {
            store_cursor("$data/cursor", $next);
        }
        $cursor = $next;
        $failures = 0;
        if ($events !== []) {
            echo count($events), " events, up to $cursor\n";
        } elseif (microtime(true) - $began < 1) {
            sleep(1); // A server that is about to stop does not wait.
        }
    } catch (Exception | TypeError $error) {
        // Random, so that many shops do not return at the same moment after an outage.
        $pause = min(2 ** $failures, MAX_PAUSE) * random_int(500, 1000) / 1000;
        $pause = max($pause, $error instanceof Failed ? $error->retryAfter : 0);
        $failures = min($failures + 1, 10);
        fprintf(STDERR, "%s; again in %.1f s\n", $error->getMessage(), $pause);
        usleep((int) ($pause * 1e6));
    }
}
