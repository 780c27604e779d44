// Package docs holds the documents of this directory that the server serves. It knows no other
// package.
package docs

import _ "embed"

// OpenAPI is the description of the HTTP interface. go generate ./internal/dev/schema writes it.
//
//go:embed openapi.json
var OpenAPI []byte
