package nodemanager

import "time"

// The defaults of Tuning and of ScalerConfig.BootImage, read when a controller starts or a scaler is made, and never
// written here. Set them before that, or leave them alone and fill in Tuning: a controller has its own.
var (
	// BootTimeout is how long a new node may take until its agent answers.
	BootTimeout time.Duration = 300 * time.Second
	// HealthyTimeout is how long an available node may be silent before it has to go.
	HealthyTimeout time.Duration = 90 * time.Second
	// HealthcheckPause lies between two questions whether a new node is up.
	HealthcheckPause time.Duration = 5 * time.Second
	// SpotRequestPause is kept for those who set it; nothing reads it.
	SpotRequestPause time.Duration = 60 * time.Second
	// BootImage is the image that nodes boot from where none was resolved.
	BootImage string = ""
	// MaxBootPerIteration bounds how many nodes are ordered by one run of the pool loop.
	MaxBootPerIteration int = 10
)
