package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"text/template"

	"agentctl/protocol"
	"agentctl/server"
)

//go:embed access.md.tmpl
var accessPage string

// accessFile is the page of roles, in the directory of documents.
const accessFile = "access.md"

// An accessRow is a command or a route with a cell for each column.
type accessRow struct {
	Name  string
	Cells []string
}

// access returns the page of roles.
func access() ([]byte, error) {
	t, err := template.New("page").Parse(accessPage)
	if err != nil {
		return nil, fmt.Errorf("parse template: %w", err)
	}
	columns := append([]protocol.Role{}, protocol.Roles...)
	columns = append(columns, protocol.RoleMetrics, protocol.RoleAgent, protocol.RoleDecider)
	data := struct {
		Columns          []protocol.Role
		Commands, Routes []accessRow
	}{Columns: columns}
	for _, c := range protocol.Commands {
		r := accessRow{Name: string(c.Verb)}
		for _, role := range columns {
			r.Cells = append(r.Cells, commandCell(role.Scope(c.Verb)))
		}
		data.Commands = append(data.Commands, r)
	}
	for _, route := range server.Routes() {
		r := accessRow{Name: route.Pattern}
		for _, role := range columns {
			r.Cells = append(r.Cells, routeCell(&route, role))
		}
		data.Routes = append(data.Routes, r)
	}
	var b bytes.Buffer
	if err := t.Execute(&b, data); err != nil {
		return nil, fmt.Errorf("execute template: %w", err)
	}
	return b.Bytes(), nil
}

func commandCell(s protocol.Scope) string {
	switch s {
	case protocol.ScopeEvery:
		return "yes"
	case protocol.ScopeOwn:
		return "own"
	case protocol.ScopeRequest:
		return "one"
	}
	return "-"
}

func routeCell(r *server.Route, role protocol.Role) string {
	switch {
	case r.Link && role == protocol.RoleDecider:
		return "one"
	case r.Link, role == protocol.RoleDecider && !r.Open:
		return "-"
	case !r.Allows(role):
		return "-"
	case r.Verb != "":
		return commandCell(role.Scope(r.Verb))
	case r.Open:
		return "open"
	}
	return "yes"
}
