package simulate

import "github.com/dyncontroller/dyncontroller/pkg/rules"

// Runner is who lacks the features that [Carries] refuses, in messages.
const Runner = "test and eval"

// Carries reports whether tests and eval carry out a feature of the language, for
// [rules.Options]: what is about one object, which is all that they know so far.
func Carries(feature rules.Feature) bool {
	return feature == rules.FeaturePatch || feature == rules.FeatureEvent
}
