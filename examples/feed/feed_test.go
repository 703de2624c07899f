package main

import (
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stoa-go/stoa/examples/internal/recipe"
)

func TestReadme(t *testing.T) {
	t.Parallel()
	recipe.Readme(t)
}

// The consumer has the right number after it and the server were killed between changes.
func TestCrashes(t *testing.T) {
	t.Parallel()
	s := recipe.New(t)
	db, copied := filepath.Join(s.Dir, "tasks.db"), filepath.Join(s.Dir, "consumer.db")
	server := s.Exec("./feed", "-addr", "127.0.0.1:0", "-db", db)
	start := func() *recipe.Program {
		return s.Exec("./feed/consumer", "-addr", "127.0.0.1:0", "-api", "http://"+server.Address, "-db", copied)
	}
	consumer := start()
	want := 0
	for round := range 4 {
		for i := range 5 {
			create(t, server.Address, fmt.Sprintf("task %d of round %d", i, round))
			want++
		}
		switch round {
		case 0, 2:
			consumer.Stop(syscall.SIGKILL)
		case 1:
			consumer = start() // and it has missed all tasks of the round
			server.Stop(syscall.SIGKILL)
			server = s.Exec("./feed", "-addr", server.Address, "-db", db)
		case 3:
			consumer = start()
		}
	}
	for got := -1; got != want; time.Sleep(20 * time.Millisecond) {
		resp, err := http.Get("http://" + consumer.Address + "/open")
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if got, err = strconv.Atoi(strings.TrimSpace(string(text))); err != nil || got > want {
			t.Fatalf("the consumer has %s, want %d: %v", text, want, err)
		}
	}
}

func create(t *testing.T, address, text string) {
	t.Helper()
	resp, err := http.Post("http://"+address+"/tasks", "application/json", strings.NewReader(`{"text":"`+text+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusCreated {
		t.Fatalf("POST: %d", resp.StatusCode)
	}
}
