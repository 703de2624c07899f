package main

import (
	"context"
	"io"
)

func socketsOf(context.Context, []string, io.Writer) error { return nil }
