//go:build generated

// Package client contains clients that oapi-codegen and ogen generate from the documents of the
// shop when .ci/clients/run openapi runs. Each has 30,000 to 50,000 lines, so they are not
// committed. Their tests are, with the build tag generated.
package client

import _ "github.com/oapi-codegen/runtime" // which generated clients import: the module has to know its version
