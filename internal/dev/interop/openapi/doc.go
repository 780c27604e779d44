// Package openapi tests the HTTP interface as its users see it: the lines of docs/http.md, and a
// client that an npm generator makes from /openapi.json. A validator checks the requests, responses
// and server-sent events of a live server against docs/openapi.json.
//
// The generated client and curl are behind the build tag interop. They need node, curl and the
// packages that ./install installs next to this file, and fail without them. No other package may
// import this package.
package openapi
