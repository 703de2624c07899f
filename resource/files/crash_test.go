package files_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/files"
)

// These tests run this test binary again as another process. The environment selects its task.
const (
	writeVariable = "STOA_FILES_WRITE"
	countVariable = "STOA_FILES_COUNT"
)

func TestMain(m *testing.M) {
	switch {
	case os.Getenv(writeVariable) != "":
		fail(writeForEver(os.Getenv(writeVariable)))
	case os.Getenv(countVariable) != "":
		fail(countUp(os.Getenv(countVariable)))
	default:
		os.Exit(m.Run())
	}
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// numbered returns the content with this number. A reader can check the number and the length.
func numbered(n int) []byte {
	rng := rand.New(rand.NewPCG(uint64(n), 7))
	b := make([]byte, 8+rng.IntN(200_000))
	binary.BigEndian.PutUint64(b, uint64(n))
	for i := 8; i < len(b); i++ {
		b[i] = byte(rng.Uint32())
	}
	return b
}

// writeForEver stores numbered contents under a few names, and prints each acknowledged number.
func writeForEver(dir string) error {
	f, err := files.New(dir, &files.Options{Remember: true})
	if err != nil {
		return err
	}
	first, err := strconv.Atoi(os.Getenv("STOA_FILES_FIRST"))
	if err != nil {
		return err
	}
	fmt.Println("ready")
	for n := first; ; n++ {
		name := fmt.Sprintf("file-%d", n%3)
		var expect resource.Rev
		switch b, err := f.Open(context.Background(), name); {
		case err == nil:
			expect = b.Rev
			b.Content.Close()
		case !errors.Is(err, resource.ErrNotFound) && !errors.Is(err, resource.ErrGone):
			return err
		}
		if n%10 == 9 && expect != "" {
			fmt.Printf("deleting %s %d\n", name, n)
			if err := f.Delete(context.Background(), name, expect); err != nil {
				return err
			}
			fmt.Printf("deleted %s %d\n", name, n)
			continue
		}
		fmt.Printf("storing %s %d\n", name, n)
		if _, err := f.Put(context.Background(), name, expect, "text/number-"+strconv.Itoa(n),
			bytes.NewReader(numbered(n))); err != nil {
			return err
		}
		fmt.Printf("stored %s %d\n", name, n)
	}
}

// state is what a name may hold: the last thing that was acknowledged, or what was begun after it.
type state struct{ acknowledged, begun int }

// TestKilledWriters kills a writer at random moments. Whatever it was doing, each name holds what was acknowledged last or
// what was begun after that, whole and with all that is known of it.
func TestKilledWriters(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	states := map[string]*state{"file-0": {}, "file-1": {}, "file-2": {}}
	const kills = 30
	next, acknowledged := 1, 0
	for n := range kills {
		last, acks := killAWriter(t, dir, next, n, states)
		next, acknowledged = last+1, acknowledged+acks
		f := open(t, dir, &files.Options{Remember: true}) // sweeps
		for name, s := range states {
			s.acknowledged = checkState(t, f, name, *s)
			s.begun = s.acknowledged
		}
		for _, path := range entries(t, dir) {
			if strings.HasPrefix(path, ".stoa/tmp/") {
				t.Errorf("%s is left", path)
			}
		}
	}
	t.Logf("%d kills, %d writes acknowledged", kills, acknowledged)
	if acknowledged == 0 {
		t.Error("nothing was acknowledged, so nothing has been tested")
	}
}

// killAWriter runs a writer until it has said so much, and for a random while after that, and returns the last number it began and
// how many it had acknowledged. Numbers of deletions are negative in states.
func killAWriter(t *testing.T, dir string, first, said int, states map[string]*state) (last, acks int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), writeVariable+"="+dir, "STOA_FILES_FIRST="+strconv.Itoa(first))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	last = first - 1
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if said--; said == -1 { // and not after a time, in which a slow machine has nothing acknowledged
			time.AfterFunc(rand.N(20*time.Millisecond), func() { cmd.Process.Kill() })
		}
		var what, name string
		var n int
		if _, err := fmt.Sscan(lines.Text(), &what, &name, &n); err != nil {
			continue // it was killed while it said this
		}
		s := states[name]
		switch what {
		case "storing":
			last, s.begun = n, n
		case "deleting":
			last, s.begun = n, -n
		case "stored", "deleted":
			s.acknowledged = s.begun
			acks++
		}
	}
	if err := cmd.Wait(); err == nil || complaint.Len() > 0 {
		t.Fatalf("the writer ended by itself: %v: %s", err, &complaint)
	}
	return last, acks
}

// checkState returns which of the two states of s a name is in.
func checkState(t *testing.T, f *files.Folder, name string, s state) int {
	t.Helper()
	b, err := f.Open(t.Context(), name)
	if err != nil {
		switch {
		case errors.Is(err, resource.ErrGone) && s.begun < 0:
			return s.begun
		case errors.Is(err, resource.ErrGone) && s.acknowledged < 0:
			return s.acknowledged
		case errors.Is(err, resource.ErrNotFound) && s.acknowledged == 0:
			return 0
		}
		t.Fatalf("%s: %v, after %+v", name, err, s)
	}
	defer b.Content.Close()
	content, err := io.ReadAll(b.Content)
	if err != nil || len(content) < 8 {
		t.Fatalf("%s: %d bytes, %v", name, len(content), err)
	}
	n := int(binary.BigEndian.Uint64(content))
	sum := sha256.Sum256(content)
	switch {
	case n != s.acknowledged && n != s.begun:
		t.Errorf("%s has content %d, after %+v", name, n, s)
	case !bytes.Equal(content, numbered(n)):
		t.Errorf("%s has content %d torn", name, n)
	case !bytes.Equal(b.SHA256, sum[:]) || b.MediaType != "text/number-"+strconv.Itoa(n):
		t.Errorf("%s has content %d with what is known of another: %+v", name, n, b)
	}
	return n
}

// countUp raises a counter by compare-and-swap.
func countUp(dir string) error {
	f, err := files.New(dir, nil)
	if err != nil {
		return err
	}
	for done := 0; done < countedBy; {
		b, err := f.Open(context.Background(), "count")
		if err != nil {
			return err
		}
		text, err := io.ReadAll(b.Content)
		b.Content.Close()
		if err != nil {
			return err
		}
		n, err := strconv.Atoi(string(text))
		if err != nil {
			return err
		}
		switch _, err := f.Put(context.Background(), "count", b.Rev, "text/plain",
			strings.NewReader(strconv.Itoa(n+1))); {
		case err == nil:
			done++
		case !errors.Is(err, resource.ErrStale):
			return err
		}
	}
	return nil
}

const countedBy = 25

// TestProcessesCount has several processes raise one counter.
func TestProcessesCount(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := open(t, dir, nil)
	put(t, f, "count", "", "0")
	const processes = 4
	var wg sync.WaitGroup
	for range processes {
		wg.Go(func() {
			cmd := exec.CommandContext(t.Context(), os.Args[0])
			cmd.Env = append(os.Environ(), countVariable+"="+dir)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	wg.Wait()
	if _, text := look(t, f, "count"); text != strconv.Itoa(processes*countedBy) {
		t.Errorf("the counter is at %s after %d acknowledged steps", text, processes*countedBy)
	}
}
