package plan

// Type says how the body of an operation is to be read.
type Type string

// The kinds of patch, and what else can be done to an object.
const (
	Merge    Type = "merge" // RFC 7386
	JSON     Type = "json"  // RFC 6902
	Apply    Type = "apply" // server-side apply, KEP-555; creates where the target has no UID
	Create   Type = "create"
	Delete   Type = "delete"
	Finalize Type = "finalizer" // of wishes only: it is sent as a merge or JSON patch
)

// Operation is one request to be: the joined wishes of one or more rules.
type Operation struct {
	Target      Object
	Subresource string
	Type        Type
	Body        any    // as of a [Wish]
	Manager     string // none for Delete
	Force       bool   // of Apply only
	// Release says what becomes of fields that the manager owns and the body no
	// longer has, of Apply only. Empty is as the API server does it: they go.
	Release ReleasePolicy
	// GivesUp says that the manager owns such fields and that they are to stay:
	// what [GiveUp] returns for the object as it is live goes before the apply.
	GivesUp bool
	Rules   []Rule
	Changes []Change // none for Delete
	// Predicted is the object after the operation, as far as it can be known
	// without the server: no defaulting, no admission. It is nil for Delete.
	Predicted map[string]any
	// Confirm are the look-ups of the snapshot that a live read must confirm
	// before the operation is sent.
	Confirm []Read
	// Reads are the look-ups that the rules may have decided by.
	Reads  []Read
	Unseen *Unseen // as of a [Wish]
}

// Change is a field that an operation writes, with the rule that asked for it.
// Before and After are nil where the field is absent.
type Change struct {
	Rule   Rule
	Path   Path
	Before any
	After  any
}

// String names the rule and the field, not the values, which may be secret.
func (c Change) String() string { return c.Rule.String() + ": " + c.Path.String() }
