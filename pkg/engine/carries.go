package engine

import "github.com/dyncontroller/dyncontroller/pkg/rules"

// Carries reports whether the engine carries out a feature of the language, for
// [rules.Options]. One that is not in the table is not carried out.
func Carries(feature rules.Feature) bool {
	return map[rules.Feature]bool{
		rules.FeaturePatch:    true,
		rules.FeatureEvent:    true,
		rules.FeatureWith:     true,
		rules.FeatureOnDelete: true,
		rules.FeatureLimits:   true,
		rules.FeatureRelease:  true,
		rules.FeatureIdentity: true,
		rules.FeatureApply:    true,
		rules.FeatureCreate:   true,
		rules.FeatureDelete:   true,
	}[feature]
}
