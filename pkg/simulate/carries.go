package simulate

import (
	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// Runner is who lacks the features that [Carries] refuses, in messages.
const Runner = "test and eval"

// Carries reports whether tests and eval carry out a feature of the language, for
// [rules.Options]: what the engine does.
func Carries(feature rules.Feature) bool { return engine.Carries(feature) }
