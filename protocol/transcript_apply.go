package protocol

// apply applies an event of this turn.
func (t *Turn) apply(e *Event) ([]*Item, error) {
	if !e.mayJoin() {
		t.fixed = e.Seq
	}
	switch e.Type {
	case TurnStarted:
		return nil, nil
	case TurnEnded:
		return t.applyEnd(e)
	case TextStart, ReasoningStart, TextDelta, ReasoningDelta, TextEnd, ReasoningEnd:
		return t.applyPart(e)
	case JoinedDeltas:
		return t.applyJoined(e)
	case ToolStarted, ToolInput, ToolOutput, ToolEnded:
		return t.applyTool(e)
	case ApprovalRequested, ApprovalExplained, ApprovalResolved:
		return t.applyApproval(e)
	case MessageSteered:
		return t.applySteered(e)
	case MessageResolved:
		return t.applyResolved(e)
	}
	it := &Item{
		Kind: ItemEvent, Type: e.Type, Data: e.Data, Task: e.Task, Parent: e.Parent, Seq: e.Seq, Started: e.Time,
		By: e.By,
	}
	t.Items = append(t.Items, it)
	return []*Item{it}, nil
}

func (t *Turn) applyEnd(e *Event) ([]*Item, error) {
	var d TurnEndedData
	if err := e.Decode(&d); err != nil {
		return nil, err
	}
	at := e.Time
	t.End, t.Ended, t.Last = &d, &at, e.Seq
	var changed []*Item
	for _, it := range t.Items {
		if it.Open {
			it.Open = false
			changed = append(changed, it)
		}
	}
	return changed, nil
}

func (t *Turn) applyPart(e *Event) ([]*Item, error) {
	kind := ItemText
	switch e.Type {
	case ReasoningStart, ReasoningDelta, ReasoningEnd:
		kind = ItemReasoning
	}
	var d struct{ Part, Text, Agent string }
	if err := e.Decode(&d); err != nil {
		return nil, err
	}
	it := t.item(e, kind, d.Part)
	switch e.Type {
	case TextStart, ReasoningStart:
		it.Agent = d.Agent
	case TextDelta, ReasoningDelta:
		it.Text = append(it.Text, d.Text...)
	default:
		it.Open = false
	}
	return []*Item{it}, nil
}

func (t *Turn) applyJoined(e *Event) ([]*Item, error) {
	var d JoinedData
	if err := e.Decode(&d); err != nil {
		return nil, err
	}
	var changed []*Item
	for _, p := range d.Parts {
		of := *e
		of.Task, of.Parent = p.Task, p.Parent
		switch p.Kind {
		case KindText, KindReasoning:
			it := t.item(&of, ItemKind(p.Kind), p.Part)
			it.Text = append(it.Text, p.Text...)
			changed = append(changed, it)
		case KindInput:
			it := t.item(&of, ItemTool, p.Part)
			it.Tool.InputText = append(it.Tool.InputText, p.Text...)
			changed = append(changed, it)
		case KindOutput:
			it := t.item(&of, ItemTool, p.Part)
			it.Text = append(it.Text, p.Text...)
			changed = append(changed, it)
		}
	}
	return changed, nil
}

func (t *Turn) applyTool(e *Event) ([]*Item, error) {
	switch e.Type {
	case ToolStarted:
		var d ToolStartedData
		if err := e.Decode(&d); err != nil {
			return nil, err
		}
		it := t.item(e, ItemTool, d.Tool)
		it.Tool.Update(&d)
		return []*Item{it}, nil
	case ToolInput:
		var d ToolInputData
		if err := e.Decode(&d); err != nil {
			return nil, err
		}
		it := t.item(e, ItemTool, d.Tool)
		it.Tool.InputText = append(it.Tool.InputText, d.Text...)
		if d.Input != nil {
			it.Tool.Input = d.Input
		}
		return []*Item{it}, nil
	case ToolOutput:
		var d ToolOutputData
		if err := e.Decode(&d); err != nil {
			return nil, err
		}
		it := t.item(e, ItemTool, d.Tool)
		if d.Replace {
			it.Text, it.Tool.Content = nil, nil
		}
		it.Text = append(it.Text, d.Text...)
		it.Tool.Content = append(it.Tool.Content, d.Content...)
		return []*Item{it}, nil
	}
	var d ToolEndedData
	if err := e.Decode(&d); err != nil {
		return nil, err
	}
	it := t.item(e, ItemTool, d.Tool)
	it.Tool.End, it.Open = &d, false
	return []*Item{it}, nil
}

// Update sets the fields that d sets.
func (t *ToolItem) Update(d *ToolStartedData) {
	if d.Name != "" {
		t.Name = d.Name
	}
	if d.Kind != "" {
		t.Kind = d.Kind
	}
	if d.Title != "" {
		t.Title = d.Title
	}
	if d.Input != nil {
		t.Input = d.Input
	}
	if d.Locations != nil {
		t.Locations = d.Locations
	}
	if d.Session != "" {
		t.Session = d.Session
	}
}

// applySteered adds an item for the message. A message that was refused before has another item.
func (t *Turn) applySteered(e *Event) ([]*Item, error) {
	var d MessageSteeredData
	if err := e.Decode(&d); err != nil {
		return nil, err
	}
	if d.By == nil {
		d.By = e.By
	}
	delete(t.byID, itemKey{ItemSteered, d.MessageID})
	it := t.item(e, ItemSteered, d.MessageID)
	it.By, it.Steered = d.By, &SteeredItem{Message: d.Message}
	return []*Item{it}, nil
}

func (t *Turn) applyResolved(e *Event) ([]*Item, error) {
	var d MessageResolvedData
	if err := e.Decode(&d); err != nil {
		return nil, err
	}
	it := t.item(e, ItemSteered, d.MessageID)
	if it.Steered == nil {
		it.Steered = &SteeredItem{Message: Message{MessageID: d.MessageID}}
	}
	it.Steered.Outcome, it.Steered.Reason, it.Open = d.Outcome, d.Reason, false
	return []*Item{it}, nil
}

func (t *Turn) applyApproval(e *Event) ([]*Item, error) {
	switch e.Type {
	case ApprovalRequested:
		var d Approval
		if err := e.Decode(&d); err != nil {
			return nil, err
		}
		d.Turn, d.Task = e.Turn, e.Task
		it := t.item(e, ItemApproval, d.Request)
		it.Approval = &d
		return []*Item{it}, nil
	case ApprovalExplained:
		var d ApprovalExplainedData
		if err := e.Decode(&d); err != nil {
			return nil, err
		}
		it := t.item(e, ItemApproval, d.Request)
		if it.Approval != nil {
			it.Approval.Explained = append(it.Approval.Explained, d.Text)
		}
		return []*Item{it}, nil
	}
	var d ApprovalResolvedData
	if err := e.Decode(&d); err != nil {
		return nil, err
	}
	it := t.item(e, ItemApproval, d.Request)
	d.At = &e.Time
	it.Resolved, it.By, it.Open = &d, e.By, false
	return []*Item{it}, nil
}
