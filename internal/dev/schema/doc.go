// Command schema writes docs/protocol.schema.json, the JSON Schema (draft 2020-12) of the native
// protocol, from the tables, types and comments of package protocol, and docs/openapi.json, the
// description of the HTTP interface, from the routes of package server/web. Its tests hold types,
// schema and the examples of docs/protocol.md together. It knows no session.
//
// It also writes docs/config.schema.json and docs/config.md, the schema and the manual of the
// configuration file of a server, from the types of package config. docs/server.json has the
// examples. docs/access.md has the roles that may send commands and use routes, from the tables of
// protocol and server.
package main

//go:generate go run . protocol ../../../docs
//go:generate go run . config ../../../docs
//go:generate go run . access ../../../docs
