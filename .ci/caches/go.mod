module github.com/stoa-go/stoa/ci/caches

go 1.26
