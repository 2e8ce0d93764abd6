package show

// SimulatedLength is simulatedLength, for tests.
const SimulatedLength = simulatedLength
