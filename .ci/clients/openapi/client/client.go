//go:build generated

// Package client says what the clients below it have in common: oapi-codegen generates them from the documents that the
// shop serves, as anybody would, when .ci/clients/run openapi asks for it. They are not kept: each is 30,000 lines that nobody
// reads. What is kept are the tests that use them, behind the build tag generated.
package client

import _ "github.com/oapi-codegen/runtime" // which generated clients import: the module has to know its version
