package ui

// SimulatedLength is simulatedLength, for tests.
const SimulatedLength = simulatedLength
