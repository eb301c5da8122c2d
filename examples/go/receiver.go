// Receives Garson's events and stores each of them once, in a file with an event in each line. Needs Go 1.19 or newer.
//
//	KEY_FILE=key go run receiver.go
//
// KEY_FILE (or KEY): the account's primary API key. PORT: 3000. DATA: the folder of events.jsonl, by default the current one.
package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode/utf8"
)

const maxBody = 1 << 20

// Garson waits 10 seconds for an answer. A request that takes longer is useless, and holds a connection.
const requestTime = 10 * time.Second

type event struct {
	Olay string `json:"olay"`
	Veri struct {
		ID       string `json:"id"`
		OrderID  string `json:"orderId"`
		Sequence int64  `json:"sequence"`
	} `json:"veri"`
}

// journal has the stored events. The lock keeps two deliveries of an event from overtaking each other between check and write.
type journal struct {
	lock   sync.Mutex
	file   *os.File
	size   int64
	failed bool
	ids    map[string]bool
	orders map[string]event // the newest event of each order
}

func openJournal(path string) (*journal, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	j := &journal{file: file, ids: map[string]bool{}, orders: map[string]event{}}
	reader := bufio.NewReader(file)
	for {
		line, err := reader.ReadBytes('\n')
		if err == io.EOF {
			break // A crash may have left half a line. It was not acknowledged, so it is sent again.
		}
		var e event
		if err == nil {
			err = json.Unmarshal(line, &e)
		}
		if err != nil {
			return nil, err
		}
		j.size += int64(len(line))
		j.remember(e)
	}
	if err := file.Truncate(j.size); err != nil {
		return nil, err
	}
	return j, file.Sync()
}

// add stores an event. It returns what it was: new, known or late.
func (j *journal) add(e event, body []byte) (string, error) {
	j.lock.Lock()
	defer j.lock.Unlock()
	if j.ids[e.Veri.ID] {
		return "known", nil
	}
	if j.failed { // Remove what the failed attempt has left.
		if err := j.file.Truncate(j.size); err != nil {
			return "", err
		}
	}
	info, err := j.file.Stat()
	if err != nil {
		return "", err
	}
	j.size, j.failed = info.Size(), true
	var line bytes.Buffer
	if err := json.Compact(&line, body); err != nil { // on one line
		return "", err
	}
	line.WriteByte('\n')
	if _, err := j.file.Write(line.Bytes()); err != nil {
		return "", err
	}
	if err := j.file.Sync(); err != nil {
		return "", err
	}
	j.failed = false
	return j.remember(e), nil
}

func (j *journal) remember(e event) string {
	j.ids[e.Veri.ID] = true
	if e.Veri.OrderID == "" {
		return "new" // It is not about an order.
	}
	// A later event may have come first: it stays the state of the order.
	if j.orders[e.Veri.OrderID].Veri.Sequence > e.Veri.Sequence {
		return "late"
	}
	j.orders[e.Veri.OrderID] = e
	return "new"
}

type receiver struct {
	authorization []byte
	journal       *journal
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	if request.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	if subtle.ConstantTimeCompare([]byte(request.Header.Get("Authorization")), r.authorization) != 1 {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, request.Body, maxBody))
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		w.WriteHeader(http.StatusRequestEntityTooLarge)
		return
	} else if err != nil {
		w.WriteHeader(http.StatusRequestTimeout)
		return
	}
	var e event
	if !utf8.Valid(body) || json.Unmarshal(body, &e) != nil || e.Veri.ID == "" {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	outcome, err := r.journal.add(e, body)
	if err != nil { // The event is not stored, and Garson must send it again.
		log.Print("not stored: ", err)
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	log.Print(outcome, " ", e.Olay, " ", e.Veri.ID)
	w.WriteHeader(http.StatusOK)
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
	key := readKey()
	// This machine only: put a proxy with TLS in front of it. The port comes first: a second receiver fails here.
	listener, err := net.Listen("tcp", "127.0.0.1:"+setting("PORT", "3000"))
	if err != nil {
		log.Fatal(err)
	}
	events, err := openJournal(filepath.Join(setting("DATA", "."), "events.jsonl"))
	if err != nil {
		log.Fatal(err)
	}
	server := &http.Server{
		Handler:      &receiver{authorization: []byte("Bearer " + key), journal: events},
		ReadTimeout:  requestTime,
		WriteTimeout: 2 * requestTime,
		IdleTimeout:  time.Minute,
	}
	ended, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	go func() {
		log.Printf("listening on http://%s/", listener.Addr())
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			log.Fatal(err)
		}
	}()
	<-ended.Done()
	limit, cancel := context.WithTimeout(context.Background(), requestTime)
	defer cancel()
	if err := server.Shutdown(limit); err != nil {
		log.Print(err)
	}
}
