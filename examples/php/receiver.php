<?php
// Receives Garson's events and stores each of them once, in a file of its own. Needs PHP 8.1 or newer.
//
//   KEY_FILE=key DATA=data php -S 127.0.0.1:3000 receiver.php
//
// `php -S` is for development: it reads a body of any size, for any time, before this script begins. In production, run it with
// php-fpm behind a web server that limits both (nginx: client_max_body_size 1m, client_body_timeout 10s).
//
// KEY_FILE (or KEY): the account's primary API key. DATA: a folder that the web server does not show.
declare(strict_types=1);

const MAX_BODY = 1024 * 1024;

function answer(int $status): never
{
    http_response_code($status);
    exit;
}

function setting(string $name): string
{
    return (string) getenv($name);
}

function authorization(): string
{
    $key = setting('KEY_FILE') !== '' ? trim(file_get_contents(setting('KEY_FILE'))) : setting('KEY');
    return $key !== '' ? "Bearer $key" : throw new RuntimeException('set KEY_FILE to a file with the API key, or KEY to the key');
}

/** Writes a file that is complete and on disk once it has its name. */
function write_durably(string $path, string $text): void
{
    $temporary = $path . '.' . bin2hex(random_bytes(8)) . '.new';
    $file = fopen($temporary, 'xb');
    try {
        if (fwrite($file, $text) !== strlen($text) || !fflush($file) || !fsync($file)) {
            throw new RuntimeException("cannot write $temporary");
        }
        fclose($file);
        rename($temporary, $path);
    } catch (Throwable $error) {
        unlink($temporary);
        throw $error;
    }
    // The name is an entry of the folder, which has to be on disk as well. Windows needs no such step, and cannot open folders.
    if (PHP_OS_FAMILY !== 'Windows' && !fsync(fopen(dirname($path), 'r'))) {
        throw new RuntimeException("cannot write the folder of $path");
    }
}

/** Stores an event and the state of its order. Returns what it was: new, known or late. */
function store(string $folder, string $body, object $veri): string
{
    foreach (["$folder/events", "$folder/orders"] as $each) {
        is_dir($each) || mkdir($each, 0700, true) || is_dir($each);
    }
    // One process at a time, so that two deliveries of an event cannot overtake each other. Released at the end of the request.
    $lock = fopen("$folder/lock", 'c');
    flock($lock, LOCK_EX) || throw new RuntimeException('no lock');
    $event = "$folder/events/$veri->id.json";
    $outcome = is_file($event) ? 'known' : 'new';
    if ($outcome === 'new') {
        write_durably($event, $body);
    }
    $order = $veri->orderId ?? null;
    if (!is_name($order)) {
        return $outcome; // It is not about an order.
    }
    // Also for a known event: the first attempt may have ended before this. An event with a higher sequence stays the state.
    $state = "$folder/orders/$order.json";
    $reached = is_file($state) ? json_decode(file_get_contents($state), flags: JSON_THROW_ON_ERROR)->veri->sequence : 0;
    if (($veri->sequence ?? 0) > $reached) {
        write_durably($state, $body);
    } elseif ($outcome === 'new') {
        return 'late';
    }
    return $outcome;
}

/** Ids are UUIDs. Nothing else becomes the name of a file. */
function is_name(mixed $id): bool
{
    return is_string($id) && preg_match('/^[0-9a-f-]{36}$/D', $id) === 1;
}

// Until the event is stored, the answer is 500, whatever happens. A warning is an exception, and is not shown: text before the
// status would make it a 200.
http_response_code(500);
ini_set('display_errors', '0');
set_error_handler(fn (int $level, string $message) => throw new ErrorException($message));

if ($_SERVER['REQUEST_METHOD'] !== 'POST') {
    header('Allow: POST');
    answer(405);
}
// Apache with CGI passes this header on only with `CGIPassAuth On`.
if (!hash_equals(authorization(), $_SERVER['HTTP_AUTHORIZATION'] ?? '')) {
    answer(401);
}
$length = (int) ($_SERVER['CONTENT_LENGTH'] ?? 0);
if ($length > MAX_BODY) {
    answer(413);
}
$body = file_get_contents('php://input', false, null, 0, MAX_BODY);
if (strlen($body) !== $length) {
    throw new RuntimeException('the body is incomplete'); // PHP discards what it cannot buffer on a full disk.
}
try {
    $event = json_decode($body, flags: JSON_THROW_ON_ERROR);
} catch (JsonException) {
    answer(400);
}
if (!is_object($event) || !is_object($event->veri ?? null) || !is_name($event->veri->id ?? null)) {
    answer(400);
}
$outcome = store(setting('DATA') ?: throw new RuntimeException('set DATA to a folder'), $body, $event->veri);
error_log($outcome . ' ' . ($event->olay ?? '') . ' ' . $event->veri->id);
answer(200);
