package protocol

// Types of the events of plans and tasks.
const (
	PlanStarted        Type = "plan.started"
	PlanUpdated        Type = "plan.updated"
	PlanCompleted      Type = "plan.completed"
	PlanInvalid        Type = "plan.invalid"
	PlanCancelled      Type = "plan.cancelled"
	PlanFailed         Type = "plan.failed"
	TaskStarted        Type = "task.started"
	TaskProgress       Type = "task.progress"
	TaskCompleted      Type = "task.completed"
	TaskFailed         Type = "task.failed"
	TaskCancelled      Type = "task.cancelled"
	TaskRestarted      Type = "task.restarted"
	AggregateStarted   Type = "aggregate.started"
	AggregateCompleted Type = "aggregate.completed"
	PipelineCompleted  Type = "pipeline.completed"
)

var planEvents = []EventType{
	{
		Type: PlanStarted, New: of[PlanStartedData], AgentMay: true, Exported: true,
		reduce: decoded(func(s *State, _ *Event, d *PlanStartedData) {
			s.Plan = &Plan{Status: StatusRunning, Question: d.Question}
		}),
		line: func(e *Event) Line {
			return Line{Level: LevelInfo, Text: "planning" + after(dataOf[PlanStartedData](e).Question)}
		},
	},
	{
		Type: PlanUpdated, New: of[PlanTasksData], AgentMay: true, Exported: true,
		reduce: decoded(func(s *State, _ *Event, d *PlanTasksData) { s.setPlanTasks(d, StatusRunning) }),
		line: func(e *Event) Line {
			return Line{Level: LevelInfo, Text: "plan: " + counted(len(dataOf[PlanTasksData](e).Tasks), "task")}
		},
	},
	{
		Type: PlanCompleted, New: of[PlanTasksData], AgentMay: true, Exported: true,
		reduce: decoded(func(s *State, _ *Event, d *PlanTasksData) { s.setPlanTasks(d, StatusCompleted) }),
		line:   planCompletedLine,
	},
	{
		Type: PlanInvalid, New: of[PlanErrorData], AgentMay: true, Exported: true,
		reduce: setPlanStatus(StatusInvalid),
		line:   planErrorLine,
	},
	{
		Type: PlanCancelled, New: of[PlanErrorData], AgentMay: true, Exported: true,
		reduce: setPlanStatus(StatusCancelled),
		line:   planErrorLine,
	},
	{
		Type: PlanFailed, New: of[PlanErrorData], AgentMay: true, Exported: true,
		reduce: setPlanStatus(StatusFailed),
		line:   planErrorLine,
	},
	{
		Type: TaskStarted, New: of[TaskData], AgentMay: true, Exported: true,
		reduce: setTaskStatus(StatusRunning),
		line:   taskLine,
	},
	{
		Type: TaskProgress, New: of[TaskData], AgentMay: true, Exported: true,
		line: taskLine,
	},
	{
		Type: TaskCompleted, New: of[TaskData], AgentMay: true, Exported: true,
		reduce: setTaskStatus(StatusCompleted),
		line:   taskLine,
	},
	{
		Type: TaskFailed, New: of[TaskData], AgentMay: true, Exported: true,
		reduce: setTaskStatus(StatusFailed),
		line:   taskLine,
	},
	{
		Type: TaskCancelled, New: of[TaskData], AgentMay: true, Exported: true,
		reduce: setTaskStatus(StatusCancelled),
		line:   taskLine,
	},
	{
		Type: TaskRestarted, New: of[TaskData], AgentMay: true, Exported: true,
		reduce: setTaskStatus(StatusPending),
		line:   taskLine,
	},
	{
		Type: AggregateStarted, New: of[AggregateData], AgentMay: true, Exported: true,
		line: func(e *Event) Line {
			return Line{Level: LevelInfo, Text: "putting " + counted(dataOf[AggregateData](e).Tasks, "result") + " together"}
		},
	},
	{Type: AggregateCompleted, New: of[AggregateData], AgentMay: true, Exported: true},
	{Type: PipelineCompleted, New: of[AggregateData], AgentMay: true, Exported: true},
}

// Commands about plans and tasks.
const (
	DoTaskCancel  Verb = "task.cancel"
	DoTaskRestart Verb = "task.restart"
	DoPlanRun     Verb = "plan.run"
)

var planCommands = []CommandType{
	{
		Verb: DoTaskCancel, Data: of[TaskIDData], Result: of[Empty],
		Role: RoleOperator, Session: true, Changes: true,
		Words:    "cancelling a task",
		Examples: [2]string{`{"task":"a"}`, `{"task":"b"}`},
		Routes: []Route{
			{
				Name: "cancelTask", Method: "POST", Path: "/api/sessions/{id}/tasks/{task}/cancel",
				Summary: "Cancel a task of the plan.",
			},
		},
	},
	{
		Verb: DoTaskRestart, Data: of[TaskIDData], Result: of[Empty],
		Role: RoleOperator, Session: true, Changes: true,
		Words:    "restarting a task",
		Examples: [2]string{`{"task":"a"}`, `{"task":"b"}`},
		Routes: []Route{
			{
				Name: "restartTask", Method: "POST", Path: "/api/sessions/{id}/tasks/{task}/restart",
				Summary: "Restart a task of the plan.",
			},
		},
	},
	{
		Verb: DoPlanRun, Data: of[PlanRunData], Result: of[SendResult],
		Role: RoleOperator, Session: true, Changes: true,
		Words: "running a plan",
		Examples: [2]string{
			`{"question":"x","tasks":[{"id":"z","title":"Z"}]}`,
			`{"question":"y","tasks":[{"id":"z","title":"Z"}]}`,
		},
		Routes: []Route{
			{
				Name: "runPlan", Method: "POST", Path: "/api/sessions/{id}/plan",
				Summary: "Run given tasks without planning.",
			},
		},
	},
}

// A Task is one part of a plan.
type Task struct {
	ID          string   `json:"id"`
	Title       string   `json:"title"`
	Description string   `json:"description,omitempty"`
	Status      string   `json:"status,omitempty"` // pending, running, completed, failed, cancelled
	After       []string `json:"after,omitempty"`  // tasks that must complete first
}

// Statuses of a task or a plan.
const (
	StatusPending   = "pending"
	StatusRunning   = "running"
	StatusCompleted = "completed"
	StatusFailed    = "failed"
	StatusCancelled = "cancelled"
	StatusInvalid   = "invalid"
)

// A Plan is the state of a session's newest plan.
type Plan struct {
	Status   string `json:"status"`
	Question string `json:"question,omitempty"`
	Summary  string `json:"summary,omitempty"`
	Tasks    []Task `json:"tasks,omitempty"`
}

// PlanStartedData is the data of plan.started.
type PlanStartedData struct {
	Question string `json:"question,omitempty"`
}

// PlanTasksData is the data of plan.updated and plan.completed: all tasks.
type PlanTasksData struct {
	Tasks   []Task `json:"tasks"`
	Summary string `json:"summary,omitempty"`
}

// PlanErrorData is the data of plan.invalid, plan.cancelled and plan.failed.
type PlanErrorData struct {
	Message string   `json:"message,omitempty"`
	Code    Code     `json:"code,omitempty"`
	Details []string `json:"details,omitempty"`
}

// TaskData is the data of every task event. Task equals the event's task.
type TaskData struct {
	Task       string `json:"task"`
	Title      string `json:"title,omitempty"`
	Message    string `json:"message,omitempty"` // progress, reason or error, for people
	Result     string `json:"result,omitempty"`
	Code       Code   `json:"code,omitempty"`
	Attempt    int    `json:"attempt,omitempty"` // from 1; of a restart, the new attempt
	DurationMS int64  `json:"duration_ms,omitempty"`
	Calls      int    `json:"calls,omitempty"` // to a model
	Usage      *Usage `json:"usage,omitempty"`
}

// AggregateData is the data of aggregate.* and pipeline.completed.
type AggregateData struct {
	Tasks      int    `json:"tasks,omitempty"`
	Text       string `json:"text,omitempty"`
	DurationMS int64  `json:"duration_ms,omitempty"`
	Usage      *Usage `json:"usage,omitempty"`

	Conflicts []FileConflict `json:"conflicts,omitempty"` // of pipeline.completed
}

// A FileConflict is a file that several tasks changed while they ran.
type FileConflict struct {
	Path  string   `json:"path"`
	Tasks []string `json:"tasks"` // ids
}

// TaskIDData names a task of the plan.
type TaskIDData struct {
	Task string `json:"task"`
}

// PlanRunData runs the given tasks without a planning step.
type PlanRunData struct {
	Tasks    []Task `json:"tasks"`
	Question string `json:"question,omitempty"`
	Summary  string `json:"summary,omitempty"`
}

func (s *State) setPlanTasks(d *PlanTasksData, status string) {
	if s.Plan == nil {
		s.Plan = &Plan{}
	}
	s.Plan.Status, s.Plan.Tasks = status, d.Tasks
	if d.Summary != "" {
		s.Plan.Summary = d.Summary
	}
}

func setPlanStatus(status string) func(*State, *Event) error {
	return func(s *State, _ *Event) error {
		if s.Plan != nil {
			s.Plan.Status = status
		}
		return nil
	}
}

func setTaskStatus(status string) func(*State, *Event) error {
	return decoded(func(s *State, _ *Event, d *TaskData) {
		if s.Plan == nil {
			return
		}
		for i := range s.Plan.Tasks {
			if s.Plan.Tasks[i].ID == d.Task {
				s.Plan.Tasks[i].Status = status
			}
		}
	})
}

func planErrorLine(e *Event) Line {
	return Line{Level: LevelError, Text: "plan " + e.Type.suffix() + after(dataOf[PlanErrorData](e).Message)}
}

func planCompletedLine(e *Event) Line {
	d := dataOf[PlanTasksData](e)
	return Line{Level: LevelInfo, Text: "plan done: " + counted(len(d.Tasks), "task") + after(d.Summary)}
}

func taskLine(e *Event) Line {
	d := dataOf[TaskData](e)
	name := d.Title
	if name == "" {
		name = d.Task
	}
	switch e.Type {
	case TaskCompleted:
		return Line{LevelSuccess, "✓", "task " + name + after(d.Result)}
	case TaskFailed:
		return Line{LevelError, "✗", "task " + name + after(d.Message)}
	}
	return Line{Level: LevelInfo, Text: "task " + name + " " + e.Type.suffix() + after(d.Message)}
}
