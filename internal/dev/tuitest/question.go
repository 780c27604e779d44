package tuitest

import "agentctl/protocol"

func number(n float64) *float64 { return &n }

// FormApproval is a form with a question of each kind.
func FormApproval() protocol.Approval {
	return protocol.Approval{
		Request: "f1", Kind: protocol.ApproveQuestion, Title: "Where shall the staging server run?", Name: "deploy",
		Questions: []protocol.Question{
			{
				ID: "city", Text: "City", About: "of the data centre", Choices: []protocol.Choice{
					{ID: "b", Label: "Berlin", About: "near the office"}, {ID: "m", Label: "Munich"},
				},
				Field: protocol.Field{Required: true, Closed: true, Default: []string{"b"}},
			},
			{
				ID: "size", Text: "Size",
				Field: protocol.Field{Type: "integer", Required: true, Min: number(1), Max: number(9)},
			},
			{
				ID: "host", Text: "Name of the host",
				Field: protocol.Field{Pattern: "^[a-z]+$", Max: number(20), Default: []string{"staging"}},
			},
			{ID: "mail", Text: "Contact", Field: protocol.Field{Format: "email"}},
			{ID: "password", Text: "Password", Field: protocol.Field{Secret: true}},
			{
				ID: "days", Text: "Days", Many: true, Choices: []protocol.Choice{
					{ID: "mo", Label: "Monday"}, {ID: "tu", Label: "Tuesday"},
				},
				Field: protocol.Field{Closed: true, Min: number(1)},
			},
			{
				ID: "db", Text: "Database", About: "Other: write your own answer.",
				Choices: []protocol.Choice{{ID: "pg", Label: "Postgres"}, {ID: "lite", Label: "SQLite"}},
			},
		},
		Options: []protocol.Option{
			{ID: "answer", Kind: protocol.AllowOnce, Label: "Answer"}, {ID: "skip", Kind: protocol.Deny, Label: "Skip"},
		},
	}
}

// PageApproval asks to open a page.
func PageApproval() protocol.Approval {
	return protocol.Approval{
		Request: "p1", Kind: protocol.ApproveQuestion, Title: "Log in to the issue tracker",
		Page: &protocol.Page{
			URL: "https://login.example:8443/oauth/authorize", Host: "login.example:8443", Hidden: true,
		},
		Options: []protocol.Option{
			{ID: "opened", Kind: protocol.AllowOnce, Label: "Opened"}, {ID: "skip", Kind: protocol.Deny, Label: "Skip"},
		},
	}
}

// PageURL is the whole URL of the page of PageApproval.
const PageURL = "https://login.example:8443/oauth/authorize?client=agentctl&state=s3cret"
