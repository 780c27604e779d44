// Command schema derives docs/protocol.schema.json, the JSON Schema (draft 2020-12) of the native protocol, from the tables
// and types of package protocol and from their comments. Its tests hold types, schema and the examples of docs/protocol.md
// together. It knows the protocol's types and nothing of who sends them.
package main

//go:generate go run . ../../docs/protocol.schema.json
