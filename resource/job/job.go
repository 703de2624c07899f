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
// calls [Jobs.Run] reports jobs if their lease is no longer renewed. A process that does not share its
// store sets Options.Alone and reports the jobs of its predecessor at once.
//
// A job that has ended never changes. [Jobs.Run] deletes it after Options.Keep. A sqltable.Table of
// jobs should have sqltable.Options.Forget, because otherwise the ids of deleted jobs are kept forever,
// and an index of state and finishedAt.
package job

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// The doc comments of Job and State are the descriptions that clients see.
//
//go:generate go run ../schema/describe

// Job is a command that was accepted, and its outcome.
type Job struct {
	// ID is the id of the job. It is a UUID of version 7 (RFC 9562), which sorts by time, unless the
	// store assigns ids.
	ID string `json:"id" readOnly:"true"`
	// Command is the name of the command, such as orders/sweep.
	Command string `json:"command" readOnly:"true"`
	// State is the state of the job. It changes once, from running to one of the others.
	State State `json:"state" readOnly:"true" enum:"running,succeeded,failed"`
	// Result is the result as JSON. It is absent if the job has none or has not succeeded.
	Result jsontext.Value `json:"result,omitzero" readOnly:"true"`
	// Problem is the reason of a failure as problem details (RFC 9457). It is absent if the job has not
	// failed.
	Problem jsontext.Value `json:"problem,omitzero" readOnly:"true"`
	// CreatedAt is the time at which the job was accepted.
	CreatedAt time.Time `json:"createdAt" readOnly:"true"`
	// FinishedAt is the time at which the job ended. It is null while the job is running.
	FinishedAt *time.Time `json:"finishedAt" readOnly:"true"`

	// By, Owner and Lease are stored and never sent to clients.

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
	Running   State = "running"   // the command is running
	Succeeded State = "succeeded" // the command has ended, and the result is set if it has one
	Failed    State = "failed"    // the command has failed, and the problem is set
)
