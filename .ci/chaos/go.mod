module github.com/stoa-go/stoa/ci/chaos

go 1.26
