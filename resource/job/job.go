// Package job runs commands in the background and serves them as a resource, so that clients can
// query their outcome.
//
// A [Job] is a command that was accepted. [Jobs] runs jobs and implements command.Jobs for
// commands:
//
//	jobs := job.New("jobs", resource.OpsOf(memory.New[job.Job](nil)), &job.Options{Alone: true})
//	sweep := command.New("orders/sweep", sweepOrders,
//		&command.Options[Sweep]{Jobs: jobs})
//	api := resource.NewCatalog(nil, orders, sweep, jobs.Resource())
//	go jobs.Run(ctx)
//
// The response to POST /orders/sweep is 202 with the Location of an item of /jobs.
//
// # Crashes
//
// A job is stored as running before it starts, and its outcome is stored when it ends. If the
// process is killed in between, the job is not started again, because it may have completed part of
// its work. It is reported as failed with the problem outcome-unknown. Changes that it has made
// remain, unless they were part of a transaction. If clients may repeat a command, it should be
// idempotent.
//
// Leases detect dead processes: each process renews the leases of its jobs, and every process that
// calls [Jobs.Run] reports jobs with an expired lease. A process that does not share its store sets
// Options.Alone and reports the jobs of its predecessor at once.
//
// A job that has ended never changes.
package job

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Job is a command that was accepted, and its outcome. It is the item type of the store, in a
// collection or a table. By, Owner and Lease are never sent to clients.
type Job struct {
	// ID is a UUID of version 7 (RFC 9562), which sorts by time. If the store assigns ids, it is
	// the store's.
	ID string `json:"id" readOnly:"true"`
	// Command is the name of the command, such as orders/sweep.
	Command string `json:"command" readOnly:"true" doc:"The command that was accepted."`
	// State is the state of the job. It changes once, from running to one of the others.
	State State `json:"state" readOnly:"true" enum:"running,succeeded,failed" doc:"What has become of it."`
	// Result is the result as JSON; nil if the job has none or has not succeeded.
	Result jsontext.Value `json:"result,omitzero" readOnly:"true" doc:"What it gave, once it has succeeded."`
	// Problem is the reason of a failure as problem details (RFC 9457); nil if the job has not
	// failed.
	Problem jsontext.Value `json:"problem,omitzero" readOnly:"true" doc:"Why it failed, as problem details."`
	// CreatedAt is the time at which the job was accepted.
	CreatedAt time.Time `json:"createdAt" readOnly:"true" doc:"When it was accepted."`
	// FinishedAt is the time at which the job ended; nil while it is running.
	FinishedAt *time.Time `json:"finishedAt" readOnly:"true" doc:"When it ended; null until then."`

	// By is the caller, as returned by Options.Principal.
	By string `json:"by" writeOnly:"true"`
	// Owner identifies the process that runs the job.
	Owner string `json:"owner" writeOnly:"true"`
	// Lease is the time at which the process is considered dead unless it renews the lease.
	Lease time.Time `json:"lease" writeOnly:"true"`
}

// State is the state of a job.
type State string

// The states of a job.
const (
	Running   State = "running"
	Succeeded State = "succeeded" // Result is set
	Failed    State = "failed"    // Problem is set
)
