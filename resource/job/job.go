// Package job runs commands behind their answers, and keeps what became of them as a resource that clients can ask.
//
// Its nouns are a [Job], one command that was accepted, and [Jobs], which runs them and is the resource.Jobs of commands:
//
//	jobs := job.New("jobs", resource.OpsOf(memory.New[job.Job](nil)), &job.Options{Alone: true})
//	sweep := resource.NewCommand("orders/sweep", sweepOrders, &resource.CommandOptions[Sweep]{Jobs: jobs})
//	api := resource.NewCatalog(nil, orders, sweep, jobs.Resource())
//	go jobs.Run(ctx)
//
// now answers POST /orders/sweep with 202 and the Location of an item of /jobs, which says how it goes.
//
// # What a crash leaves
//
// A job is noted as running before it begins, and what became of it is noted when it ends. A job whose process is killed
// between the two is not begun again, since nobody knows how far it came: it is reported as failed, with the problem
// outcome-unknown. Whose process is dead is told by leases: each process renews those of its jobs, and any process that
// calls [Jobs.Run] reports the jobs whose lease is over. A process that shares its store with no other says so by
// Options.Alone, and reports what others have left as soon as it starts. What a job has done until then stays done, unless
// it was in a transaction, so a job that may be asked for again is best written so that it can be.
//
// A job that has ended never changes again.
package job

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Job is a command that was accepted, and what has become of it. It is what a store keeps, in a collection or a table; no
// client is shown By, Owner and Lease.
type Job struct {
	// ID is a UUID of version 7 (RFC 9562), so that the order of ids is that of time, unless the store assigns ids.
	ID string `json:"id" readOnly:"true"`
	// Command is the name of the command: orders/sweep.
	Command string `json:"command" readOnly:"true" doc:"The command that was accepted."`
	// State says whether it is still running.
	State State `json:"state" readOnly:"true" enum:"running,succeeded,failed" doc:"What has become of it."`
	// Result is what it gave, as JSON; nil if that is nothing, or not there yet.
	Result jsontext.Value `json:"result,omitzero" readOnly:"true" doc:"What it gave, once it has succeeded."`
	// Problem is why it failed, as problem details (RFC 9457); nil if it did not.
	Problem jsontext.Value `json:"problem,omitzero" readOnly:"true" doc:"Why it failed, as problem details."`
	// CreatedAt is when it was accepted.
	CreatedAt time.Time `json:"createdAt" readOnly:"true" doc:"When it was accepted."`
	// FinishedAt is when it ended; nil until then.
	FinishedAt *time.Time `json:"finishedAt" readOnly:"true" doc:"When it ended; null until then."`

	// By is who asked for it, in the words of Options.Principal.
	By string `json:"by" writeOnly:"true"`
	// Owner is the process that runs it.
	Owner string `json:"owner" writeOnly:"true"`
	// Lease is until when the process is believed to be alive without another sign of it.
	Lease time.Time `json:"lease" writeOnly:"true"`
}

// State is what has become of a job.
type State string

// The states.
const (
	Running   State = "running"
	Succeeded State = "succeeded" // Result says what it gave
	Failed    State = "failed"    // Problem says why
)
