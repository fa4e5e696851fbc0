package engine

import (
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
)

// audit tells what audited rules would write, each change once for as long as
// they want it.
func (e *Engine) audit(key Key, record *record, operations []plan.Operation, hidden *masker) {
	told := record.audited
	record.audited = nil
	for _, operation := range operations {
		news := false
		for mark := range operation.All() {
			news = news || !told[mark]
			if record.audited == nil {
				record.audited = plan.Marks{}
			}
			record.audited[mark] = true
		}
		if !news {
			continue
		}
		shown := hidden.operation(operation)
		e.options.Observer.Wrote(shown, write.Audited)
		e.open.wrote(write.Audited)
		e.log(key).With(asked(shown)...).Info("would write",
			"type", string(operation.Type), "subresource", operation.Subresource, "mode", string(spec.Audit))
	}
}
