// Fetches Garson's events, for a shop without a public address, and stores each of them once. Needs Go 1.19 or newer.
//
//	KEY_FILE=key URL=https://orders.example.com go run poller.go
//
// KEY_FILE (or KEY): an API key. URL: where Garson is. DATA: the folder of events.jsonl and cursor, by default the current one.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"math/rand"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const (
	waitSeconds = 30
	// The whole request, with the time that Garson waits for an event.
	requestTime   = (waitSeconds + 15) * time.Second
	maxPause      = time.Minute
	maxRetryAfter = 10 * time.Minute
)

// failed is an answer that is not a page of events.
type failed struct {
	status     int
	retryAfter time.Duration
}

func (f failed) Error() string { return fmt.Sprintf("Garson answered %d", f.status) }

func idOf(event []byte) (string, error) {
	var e struct{ Veri struct{ ID string } }
	err := json.Unmarshal(event, &e)
	if err == nil && e.Veri.ID == "" {
		err = errors.New("an event has no id")
	}
	return e.Veri.ID, err
}

type journal struct {
	file   *os.File
	size   int64
	failed bool
	ids    map[string]bool
}

func openJournal(path string) (*journal, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	j := &journal{file: file, ids: map[string]bool{}}
	reader := bufio.NewReader(file)
	for {
		line, err := reader.ReadBytes('\n')
		if err == io.EOF {
			break // A crash may have left half a line. The cursor is older than it, so it is fetched again.
		} else if err != nil {
			return nil, err
		}
		id, err := idOf(line)
		if err != nil {
			return nil, err
		}
		j.ids[id] = true
		j.size += int64(len(line))
	}
	if err := file.Truncate(j.size); err != nil {
		return nil, err
	}
	return j, file.Sync()
}

// add stores the events that are new. They are given newest first.
func (j *journal) add(events []json.RawMessage) error {
	var lines bytes.Buffer
	var fresh []string
	for i := len(events) - 1; i >= 0; i-- {
		id, err := idOf(events[i])
		if err != nil {
			return err
		}
		if !j.ids[id] {
			fresh = append(fresh, id)
			if err := json.Compact(&lines, events[i]); err != nil { // on one line
				return err
			}
			lines.WriteByte('\n')
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	if j.failed { // Remove what the failed attempt has left.
		if err := j.file.Truncate(j.size); err != nil {
			return err
		}
	}
	info, err := j.file.Stat()
	if err != nil {
		return err
	}
	j.size, j.failed = info.Size(), true
	if _, err := j.file.Write(lines.Bytes()); err != nil {
		return err
	}
	if err := j.file.Sync(); err != nil {
		return err
	}
	j.failed = false
	for _, id := range fresh {
		j.ids[id] = true
	}
	return nil
}

// storeCursor replaces the file by a complete one: a crash leaves the old cursor or the new one.
func storeCursor(path, cursor string) error {
	file, err := os.Create(path + ".new")
	if err != nil {
		return err
	}
	_, err = file.WriteString(cursor)
	if err == nil {
		err = file.Sync()
	}
	if closing := file.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

type page struct {
	Data   []json.RawMessage
	Paging struct{ Prev string }
}

type poller struct {
	base, key string
	client    http.Client
}

// fetch returns the events after the cursor. It waits until there are some, up to waitSeconds.
func (p *poller) fetch(cursor string) (*page, error) {
	query := url.Values{"dir": {"prev"}, "limit": {"100"}, "wait": {strconv.Itoa(waitSeconds)}}
	if cursor != "" {
		query.Set("cursor", cursor)
	}
	request, err := http.NewRequest(http.MethodGet, p.base+"/web-api/v1/events?"+query.Encode(), nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+p.key)
	response, err := p.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	switch response.StatusCode {
	case http.StatusOK:
		answer := &page{}
		if err := json.Unmarshal(body, answer); err != nil {
			return nil, err
		}
		if answer.Paging.Prev == "" {
			return nil, errors.New("the answer has no cursor")
		}
		return answer, nil
	case http.StatusUnauthorized:
		log.Fatal("Garson refuses the key")
	case http.StatusUnprocessableEntity:
		log.Fatal("The events after the cursor are not kept any more: read the orders, delete the cursor, start again")
	}
	// It may also be a date, which a proxy sends.
	seconds, err := strconv.ParseUint(response.Header.Get("Retry-After"), 10, 31)
	retryAfter := time.Duration(seconds) * time.Second
	if err != nil {
		retryAfter = 0
	} else if retryAfter > maxRetryAfter {
		retryAfter = maxRetryAfter
	}
	return nil, failed{response.StatusCode, retryAfter}
}

func setting(name, otherwise string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return otherwise
}

func readKey() string {
	key := os.Getenv("KEY")
	if path := os.Getenv("KEY_FILE"); path != "" {
		content, err := os.ReadFile(path)
		if err != nil {
			log.Fatal(err)
		}
		key = strings.TrimSpace(string(content))
	}
	if key == "" {
		log.Fatal("set KEY_FILE to a file with the API key, or KEY to the key")
	}
	return key
}

func main() {
	rand.Seed(time.Now().UnixNano())
	p := &poller{base: strings.TrimRight(setting("URL", "http://127.0.0.1:8080"), "/"), key: readKey()}
	p.client.Timeout = requestTime
	// A redirect is not an answer of Garson.
	p.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	events, err := openJournal(filepath.Join(setting("DATA", "."), "events.jsonl"))
	if err != nil {
		log.Fatal(err)
	}
	cursorFile := filepath.Join(setting("DATA", "."), "cursor")
	content, err := os.ReadFile(cursorFile)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		log.Fatal(err)
	}
	cursor, pause := string(content), time.Second
	// It may be killed at any time: what is stored is complete, and the rest is fetched again.
	for {
		began := time.Now()
		answer, err := p.fetch(cursor)
		// In this order: after a crash between the two, the events are fetched again, and their ids are known.
		if err == nil {
			err = events.add(answer.Data)
		}
		if err == nil && answer.Paging.Prev != cursor {
			err = storeCursor(cursorFile, answer.Paging.Prev)
		}
		if err != nil {
			// Random, so that many shops do not return at the same moment after an outage.
			wait := pause/2 + time.Duration(rand.Int63n(int64(pause/2)))
			var refusal failed
			if errors.As(err, &refusal) && refusal.retryAfter > wait {
				wait = refusal.retryAfter
			}
			log.Printf("%v; again in %v", err, wait.Round(time.Second/10))
			time.Sleep(wait)
			if pause *= 2; pause > maxPause {
				pause = maxPause
			}
			continue
		}
		cursor, pause = answer.Paging.Prev, time.Second
		if len(answer.Data) > 0 {
			log.Printf("%d events, up to %s", len(answer.Data), cursor)
		} else if time.Since(began) < time.Second {
			time.Sleep(time.Second) // A server that is about to stop does not wait.
		}
	}
}
