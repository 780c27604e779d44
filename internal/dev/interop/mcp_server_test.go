//go:build interop

package interop

import (
	"context"
	"encoding/json"
	"fmt"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// mcpVariable makes this test program an MCP server, over standard input and output.
const mcpVariable = "AGENTCTL_INTEROP_MCP"

// loginURL is the page that the tool of the server asks to open.
const loginURL = "https://login.example/authorize?state=the-secret-query"

// serveMCP serves a tool that asks with a form, then asks to open a page.
func serveMCP() {
	s := sdk.NewServer(&sdk.Implementation{Name: "asker"}, nil)
	var form, page *sdk.ElicitResult
	ask := func(p *sdk.ElicitParams) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{InputRequests: sdk.InputRequestMap{p.Mode: p}}, nil, nil
	}
	sdk.AddTool(s, &sdk.Tool{Name: "log_in", Description: "logs in"},
		func(ctx context.Context, r *sdk.CallToolRequest, _ struct{}) (*sdk.CallToolResult, any, error) {
			if answer, ok := r.Params.InputResponses["form"].(*sdk.ElicitResult); ok {
				form = answer
			}
			if answer, ok := r.Params.InputResponses["url"].(*sdk.ElicitResult); ok {
				page = answer
			}
			switch {
			case form == nil:
				return ask(&sdk.ElicitParams{
					Mode: "form", Message: "Who are you?", RequestedSchema: json.RawMessage(`{"type":"object","required":["user"],` +
						`"properties":{"user":{"type":"string","title":"User","maxLength":5},"age":{"type":"integer","minimum":1},` +
						`"password":{"type":"string","title":"Password"},"stay":{"type":"boolean","default":true}}}`),
				})
			case page == nil:
				return ask(&sdk.ElicitParams{Mode: "url", Message: "Log in at " + loginURL, URL: loginURL, ElicitationID: "e1"})
			}
			content, err := json.Marshal(form.Content)
			text := fmt.Sprintf("%s %d bytes, %s", form.Action, len(content), page.Action)
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}, nil, err
		})
	_ = s.Run(context.Background(), &sdk.StdioTransport{})
}
