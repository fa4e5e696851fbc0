package trace

import "github.com/dyncontroller/dyncontroller/pkg/plan"

// Action is an action of a rule, or what the engine does for it.
type Action struct {
	// Kind is patch, apply, create, delete or event; of what no action asks for it is
	// finalizer or prune.
	Kind string `json:"kind"`
	At   Place  `json:"at,omitzero"`
	// Reached says that the rule came to it.
	Reached bool `json:"reached"`
	// ForEach is what the action repeats, empty for once.
	ForEach string `json:"forEach,omitempty"`
	// Turns are the elements of ForEach, the first ones of Count, or the one time.
	Turns []Turn `json:"turns,omitempty"`
	Count int    `json:"count"`
	Error string `json:"error,omitempty"`
}

// Turn is one time that an action is carried out.
type Turn struct {
	// Element is nil without ForEach.
	Element *Value  `json:"element,omitempty"`
	When    *Clause `json:"when,omitempty"`
	Wants   []Want  `json:"wants,omitempty"`
	Events  []Event `json:"events,omitempty"`
	Error   string  `json:"error,omitempty"`
}

// Want is what an action wants of one object, by itself: other rules and later actions may
// want otherwise.
type Want struct {
	Type        plan.Type `json:"type"`
	Object      string    `json:"object"`
	Subresource string    `json:"subresource,omitempty"`
	// Already says that it is so.
	Already bool `json:"already,omitempty"`
	// Changes are the first ones of Count.
	Changes []Change `json:"changes,omitempty"`
	Count   int      `json:"count"`
}

// Change is a field that is written.
type Change struct {
	Path   string  `json:"path"`
	Before Value   `json:"before"`
	After  Value   `json:"after"`
	Owners []Owner `json:"owners,omitempty"`
}

// Owner is a field manager that set a field, as managedFields says.
type Owner struct {
	Name        string `json:"manager"`
	Operation   string `json:"operation"` // Apply or Update
	Subresource string `json:"subresource,omitempty"`
	Time        string `json:"time,omitempty"` // RFC 3339
}

// Event is a Kubernetes Event that is recorded after the writes.
type Event struct {
	Object  string `json:"object"`
	Type    string `json:"type"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// Request is one request to be.
type Request struct {
	Type        plan.Type `json:"type"`
	Object      string    `json:"object"`
	Subresource string    `json:"subresource,omitempty"`
	Manager     string    `json:"manager,omitempty"`
	Force       bool      `json:"force,omitempty"`
	// Rules are all that it carries out.
	Rules []string `json:"rules"`
	// Audited says that it is not sent.
	Audited bool `json:"audited,omitempty"`
}
