package rest_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/command"
	"github.com/stoa-go/stoa/resource/job"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/problem"
)

type napIn struct {
	Seconds int    `json:"seconds" required:"true"`
	End     string `json:"end"`
}

type napOut struct {
	Slept int `json:"slept"`
}

type jobList struct {
	Items []job.Job `json:"items"`
}

// nap sleeps and then returns the result that its input requests.
func nap(ctx context.Context, in napIn) (napOut, error) {
	select {
	case <-time.After(time.Duration(in.Seconds) * time.Second):
	case <-ctx.Done():
		return napOut{}, ctx.Err()
	}
	switch in.End {
	case "":
		return napOut{in.Seconds}, nil
	case "panic":
		panic("secret cause")
	}
	return napOut{}, commandErrors[in.End]
}

// napping serves the jobs /bed/nap, which takes two seconds, and /bed/rest, which has no result.
func napping(t testing.TB, opts ...func(*setup)) http.Handler {
	t.Helper()
	jobs := job.New("jobs", resource.OpsOf(memory.New[job.Job](nil)), &job.Options{Alone: true, Principal: caller,
		Logger: slog.New(slog.DiscardHandler)})
	napOptions := &command.Options[napIn]{Jobs: jobs, Wait: 2 * time.Second}
	napOptions.Authorize = func(_ context.Context, in *napIn) error {
		if in.Seconds < 0 {
			return resource.ErrForbidden
		}
		return nil
	}
	rest := func(ctx context.Context, in napIn) (nothing, error) { _, err := nap(ctx, in); return nothing{}, err }
	return byCaller(api(t, append([]func(*setup){func(s *setup) {
		s.parts = append(s.parts, command.New("bed/nap", nap, napOptions),
			command.New("bed/rest", rest, &command.Options[napIn]{Jobs: jobs}), jobs.Resource())
	}}, opts...)...))
}

// withCommands adds two commands without effect: one that runs at once, and one that is a job.
func withCommands(s *setup) {
	jobs := job.New("jobs", resource.OpsOf(memory.New[job.Job](nil)), &job.Options{Alone: true})
	s.parts = append(s.parts, jobs.Resource(),
		command.New("users/count", countAll, nil),
		command.New("bed/made", func(_ context.Context, in napIn) (napOut, error) { return napOut{in.Seconds}, nil },
			&command.Options[napIn]{Jobs: jobs}))
}

// napFor returns the body of a request for a nap.
func napFor(seconds, end string) string { return `{"seconds":` + seconds + `,"end":"` + end + `"}` }

func TestRule091Accepted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := napping(t)
		res := send(t, h, "POST /bed/nap", asAdmin, jsonBody, "", napFor("5", ""))
		monitor := res.header.Get("Location")
		want(t, res, http.StatusAccepted, "Location: *", "Content-Location: "+monitor, "Retry-After: 1",
			"Cache-Control: no-store", "Content-Type: application/json", "Vary: Accept, Accept-Encoding", "Etag:", "Preference-Applied:")
		wantBody(t, send(t, h, "GET "+monitor, asAdmin), http.StatusOK, res.body)
		got := value[job.Job](t, res)
		same(t, "job", job.Job{ID: strings.TrimPrefix(monitor, "/jobs/"), Command: "bed/nap", State: job.Running,
			CreatedAt: time.Now().Add(-2 * time.Second).UTC()}, got)

		time.Sleep(3 * time.Second)
		synctest.Wait()
		got = value[job.Job](t, send(t, h, "GET "+monitor, asAdmin))
		same(t, "state", job.Succeeded, got.State)
		same(t, "result", `{"slept":5}`, string(got.Result))
		wantProblem(t, send(t, h, "GET "+monitor, asMallory), problem.NotFound)
	})
}

// TestRule091DoneInTime: a job that ends while the client waits has the response of a command
// without a job.
func TestRule091DoneInTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := napping(t)
		begin := time.Now()
		res := send(t, h, "POST /bed/nap", jsonBody, "", napFor("1", ""))
		wantBody(t, res, http.StatusOK, `{"slept":1}`)
		want(t, res, http.StatusOK, "Location:", "Retry-After:", "Cache-Control: no-store")
		same(t, "time", time.Second, time.Since(begin))
		res = send(t, h, "POST /bed/rest", jsonBody, "Prefer: wait=5", "", napFor("1", ""))
		wantBody(t, res, http.StatusOK, "{}")
		want(t, send(t, h, "POST /bed/nap", jsonBody, "Prefer: return=minimal", "", napFor("1", "")), http.StatusNoContent,
			"Preference-Applied: return=minimal")
	})
}

func TestRule092FailedInTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log journal
		h := napping(t, log.into)
		wantProblem(t, send(t, h, "POST /bed/nap", jsonBody, "", napFor("1", "gone")), problem.Gone, "Location:")
		d := wantProblem(t, send(t, h, "POST /bed/nap", jsonBody, "", napFor("1", "nowhere")), problem.Invalid)
		wantErrors(t, d, " unknown")
		for _, end := range []string{"internal", "panic"} {
			d := wantProblem(t, send(t, h, "POST /bed/nap", asAdmin, jsonBody, "", napFor("1", end)), problem.Internal)
			if strings.Count(log.String(), d.Instance) != 1 || d.Instance == "" {
				t.Errorf("instance %q is not once in the log: %s", d.Instance, &log)
			}
			// The job itself reports the same error.
			list := send(t, h, "GET /jobs?state=failed&sort=-createdAt", asAdmin)
			if !strings.Contains(list.body, d.Instance) || strings.Contains(list.body, "secret") {
				t.Errorf("jobs are %s, want instance %s", list.body, d.Instance)
			}
		}
	})
}

// TestRule091Refused: errors that are known in advance are returned at once, and no job starts.
func TestRule091Refused(t *testing.T) {
	t.Parallel()
	h := napping(t)
	wantProblem(t, send(t, h, "POST /bed/nap", asAdmin, jsonBody, "", napFor("-1", "")), problem.Forbidden)
	wantProblem(t, send(t, h, "POST /bed/nap", asAdmin, jsonBody, "", "{}"), problem.Invalid)
	wantProblem(t, send(t, h, "POST /bed/nap", asAdmin, "Accept: text/html", jsonBody, "", "{}"), problem.NotAcceptable)
	wantBody(t, send(t, h, "GET /jobs", asAdmin), http.StatusOK, `{"items":[]}`)
}

func TestRule091PreferWait(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		prefer  string
		seconds string
		status  int
		applied string
		took    time.Duration
	}{
		{"as the command says", "", "3", 202, "", 2 * time.Second},
		{"longer", "wait=10", "3", 200, "wait=10", 3 * time.Second},
		{"shorter", "wait=1", "3", 202, "wait=1", time.Second},
		{"not at all", "wait=0", "3", 202, "wait=0", 0},
		{"too long", "wait=3600", "40", 202, "wait=30", 30 * time.Second},
		{"at once", "respond-async", "3", 202, "respond-async", 0},
		{"at once, though in time", "respond-async", "1", 202, "respond-async", 0},
		{"both", "respond-async, wait=1", "3", 202, "wait=1, respond-async", time.Second},
		{"both, in time", "respond-async, wait=5", "3", 200, "wait=5", 3 * time.Second},
		{"minimal", "return=minimal, wait=0", "3", 202, "wait=0, return=minimal", 0},
		{"no number", "wait=soon", "1", 200, "", time.Second},
		{"negative", "wait=-1", "1", 200, "", time.Second},
		{"no value", "wait", "1", 200, "", time.Second},
		{"enormous", "wait=99999999999999999999", "1", 200, "", time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h := napping(t)
				begin := time.Now()
				rest := []string{asAdmin, jsonBody, "", napFor(tt.seconds, "")}
				if tt.prefer != "" {
					rest = append([]string{"Prefer: " + tt.prefer}, rest...)
				}
				res := send(t, h, "POST /bed/nap", rest...)
				want(t, res, tt.status, "Preference-Applied: "+tt.applied)
				same(t, "time", tt.took, time.Since(begin))
				if minimal := strings.Contains(tt.prefer, "minimal"); tt.status == http.StatusAccepted && (res.body == "") != minimal {
					t.Errorf("the content is %q", res.body)
				}
				time.Sleep(time.Hour)
			})
		})
	}
}

// prompt are jobs that end before a client can request them.
type prompt struct{ *job.Jobs }

func (p prompt) Start(
	ctx context.Context, command string, do func(context.Context) (jsontext.Value, error),
) (id string, done <-chan struct{}, err error) {
	if id, done, err = p.Jobs.Start(ctx, command, do); err == nil {
		<-done
	}
	return id, done, err
}

// TestRule091NoWait: a client that does not wait receives the location of the job, also if the job
// ends before the response is sent.
func TestRule091NoWait(t *testing.T) {
	t.Parallel()
	jobs := prompt{job.New("jobs", resource.OpsOf(memory.New[job.Job](nil)), &job.Options{Alone: true})}
	h := api(t, func(s *setup) {
		s.parts = append(s.parts, jobs.Resource(), command.New("bed/nap", nap,
			&command.Options[napIn]{Public: true, Jobs: jobs}))
	})
	for prefer, applied := range map[string]string{"": "", "wait=0": "wait=0", "respond-async": "respond-async"} {
		res := send(t, h, "POST /bed/nap", jsonBody, "Prefer: "+prefer, "", napFor("0", ""))
		want(t, res, http.StatusAccepted, "Location: *", "Retry-After: 1", "Preference-Applied: "+applied)
		same(t, "state", job.Succeeded, value[job.Job](t, res).State)
	}
	wantBody(t, send(t, h, "POST /bed/nap", jsonBody, "Prefer: wait=1", "", napFor("0", "")), http.StatusOK, `{"slept":0}`)
}

// TestRule091HiddenMonitor: a caller without access to the job still receives a response.
func TestRule091HiddenMonitor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log journal
		// an anonymous caller
		res := send(t, napping(t, log.into), "POST /bed/rest", jsonBody, "", napFor("1", ""))
		wantBody(t, res, http.StatusAccepted, "")
		want(t, res, http.StatusAccepted, "Location: *", "Content-Location:", "Retry-After: 1", "Content-Type:",
			"Content-Length: 0")
		same(t, "log", "", log.String())
		time.Sleep(time.Second)
	})
}

// TestRule091TimeIsUp: if the request times out while a job runs, the response is 202 and not a
// retryable error, and the job continues.
func TestRule091TimeIsUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := napping(t)
		ctx, leave := context.WithTimeout(t.Context(), time.Second)
		defer leave()
		r := request(t, "POST /bed/nap", asAdmin, jsonBody, "Prefer: wait=9", "", napFor("5", "")).WithContext(ctx)
		want(t, sent(h, r), http.StatusAccepted, "Location: *", "Retry-After: 1")
		time.Sleep(time.Minute)
		got := value[jobList](t, send(t, h, "GET /jobs", asAdmin)).Items
		if len(got) != 1 || got[0].State != job.Succeeded {
			t.Errorf("jobs %+v, want one that has succeeded", got)
		}
	})
}

// TestRule091InTransaction: the response does not wait for a job that starts with the commit of the
// transaction.
func TestRule091InTransaction(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := memory.NewDB()
		jobs := job.New("jobs", resource.OpsOf(memory.New(&memory.Options[job.Job]{DB: db})), &job.Options{Alone: true})
		h := catalog(t, jobs.Resource(),
			command.New("bed/nap", nap, &command.Options[napIn]{Jobs: jobs, Wait: 2 * time.Second}))
		inside := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			err := db.InTx(r.Context(), func(ctx context.Context) error {
				h.ServeHTTP(w, r.WithContext(ctx))
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
		began := time.Now()
		res := send(t, inside, "POST /bed/nap", jsonBody, "Prefer: wait=9", "", napFor("5", ""))
		want(t, res, http.StatusAccepted, "Location: *", "Preference-Applied:")
		same(t, "waited", time.Duration(0), time.Since(began))
		time.Sleep(time.Minute)
		same(t, "state", job.Succeeded, value[job.Job](t, send(t, h, "GET "+res.header.Get("Location"))).State)
	})
}

// badJobs are jobs that violate the contract.
type badJobs struct {
	name string
	id   string
	done chan struct{}
	err  error
}

func (b badJobs) Name() string { return b.name }

func (b badJobs) Start(
	context.Context, string, func(context.Context) (jsontext.Value, error),
) (id string, done <-chan struct{}, err error) {
	return b.id, b.done, b.err
}

func TestBadJobs(t *testing.T) {
	t.Parallel()
	ended, never := make(chan struct{}), make(chan struct{})
	close(ended)
	tests := []struct {
		name   string
		jobs   badJobs
		prefer string
		status int
	}{
		{"full", badJobs{err: resource.ErrUnavailable}, "", http.StatusServiceUnavailable},
		{"broken", badJobs{err: errors.New("secret cause")}, "", http.StatusInternalServerError},
		{"does nothing", badJobs{id: "1", done: ended}, "wait=1", http.StatusInternalServerError},
		{"forgets", badJobs{id: "no such id", done: never}, "", http.StatusAccepted},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.jobs.name = "orders"
			opts := &command.Options[napIn]{Jobs: tt.jobs}
			h := api(t, func(s *setup) { s.parts = append(s.parts, command.New("bed/nap", nap, opts)) })
			res := send(t, h, "POST /bed/nap", jsonBody, "Prefer: "+tt.prefer, "", napFor("0", ""))
			want(t, res, tt.status)
			if strings.Contains(res.body, "secret") {
				t.Errorf("it tells: %s", res.body)
			}
		})
	}
}

func TestJobsAreAmongTheParts(t *testing.T) {
	t.Parallel()
	c := command.New("bed/nap", nap, &command.Options[napIn]{Public: true, Jobs: badJobs{name: "jobs"}})
	wantPanic(t, `resource: part bed/nap: the catalog has no resource "jobs"; pass it to NewCatalog`, func() {
		resource.NewCatalog(nil, c)
	})
	jobs := resource.New("jobs", memory.New[job.Job](nil), nil)
	report := resource.NewCatalog(nil, c, jobs).Report()
	if !strings.Contains(report, "command: input seconds end, output slept, as a job in /jobs\n") {
		t.Errorf("report:\n%s", report)
	}
}

// TestJobsInContracts: the job and its path are in the contract of the request.
func TestJobsInContracts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		jobs := job.New("jobs", resource.OpsOf(memory.New[job.Job](nil)), &job.Options{Alone: true})
		command := command.New("bed/nap", nap, &command.Options[napIn]{Public: true, Jobs: jobs})
		h := versionedCommands(t, command, jobs.Resource())
		res := send(t, h, "POST /v1/bed/nap", "Accept: application/vnd.shop.1.nap+json", jsonBody, "", napFor("1", ""))
		want(t, res, http.StatusAccepted, "Content-Type: application/vnd.shop.1.0.0.job+json")
		if at := res.header.Get("Location"); !strings.HasPrefix(at, "/v1/jobs/") || at != res.header.Get("Content-Location") {
			t.Errorf("the job is at %s", at)
		}
		res = send(t, h, "POST /bed/nap", jsonBody, "", `{"version":"1.0","seconds":1}`)
		want(t, res, http.StatusAccepted, "Content-Location:")
		if !strings.HasSuffix(res.body, `,"finishedAt":null,"version":"1.0"}`) {
			t.Errorf("the content is %s", res.body)
		}
		res = send(t, h, "POST /bed/nap", "Prefer: wait=2", jsonBody, "", `{"version":"1.0","seconds":1}`)
		wantBody(t, res, http.StatusOK, `{"slept":1,"version":"1.0"}`)
		time.Sleep(time.Hour)
	})
}
