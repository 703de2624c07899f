package job_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/command"
	"github.com/stoa-go/stoa/resource/job"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/rest"
)

type Sweep struct {
	OlderThan string `json:"olderThan" required:"true"`
}

type Swept struct {
	Cancelled int `json:"cancelled"`
}

// A command that takes its time is answered at once, and asked for later.
func ExampleNew() {
	jobs := job.New("jobs", resource.OpsOf(memory.New[job.Job](nil)), &job.Options{Alone: true})
	begin := make(chan bool)
	sweep := command.New("orders/sweep", func(context.Context, Sweep) (Swept, error) {
		<-begin
		return Swept{Cancelled: 3}, nil
	}, &command.Options[Sweep]{Public: true, Jobs: jobs})
	api := resource.NewCatalog(nil, sweep, jobs.Resource())

	r := httptest.NewRequest("POST", "/orders/sweep", strings.NewReader(`{"olderThan":"24h"}`))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	rest.New(api, nil).ServeHTTP(w, r)
	monitor := w.Header().Get("Location")
	fmt.Println(w.Code, strings.HasPrefix(monitor, "/jobs/"))

	close(begin)
	if err := jobs.Drain(context.Background()); err != nil { // waits until all have ended
		fmt.Println(err)
	}
	w = httptest.NewRecorder()
	rest.New(api, nil).ServeHTTP(w,
		httptest.NewRequest(http.MethodGet, monitor+"?fields=command,state,result", nil))
	fmt.Println(w.Code, w.Body)
	// Output:
	// 202 true
	// 200 {"command":"orders/sweep","state":"succeeded","result":{"cancelled":3}}
}
