/// A value most rows lack: it stands in memory of its own, so that a row without it is small to hand around.
@propertyWrapper
package struct Apart<Value: Hashable & Sendable>: Hashable, Sendable {
    private indirect enum Place: Hashable {
        case none
        case there(Value)
    }

    private var place = Place.none

    package init() {}

    /// Whether there is one; asked without a copy of it.
    package var projectedValue: Bool { if case .there = place { true } else { false } }

    package var wrappedValue: Value? {
        get { if case .there(let value) = place { value } else { nil } }
        set { place = newValue.map { .there($0) } ?? .none }
    }
}
