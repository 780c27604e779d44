// Command schema writes docs/protocol.schema.json, the JSON Schema (draft 2020-12) of the native
// protocol, from the tables, types and comments of package protocol. Its tests hold types, schema
// and the examples of docs/protocol.md together. It knows the protocol's types only.
package main

//go:generate go run . ../../docs/protocol.schema.json
