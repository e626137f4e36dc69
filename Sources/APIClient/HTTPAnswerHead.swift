/// What stands before an answer's body.
package struct HTTPAnswerHead: Hashable, Sendable {
    /// 100...599.
    package var status: Int
    /// The header fields, names in lower case, in order.
    package var fields: [Field]

    /// A name with its value.
    package struct Field: Hashable, Sendable {
        /// In lower case.
        package var name: String
        /// Without the blanks around it.
        package var value: String
    }

    /// The first value of a field, by its name in lower case.
    package subscript(name: String) -> String? {
        fields.first { $0.name == name }?.value
    }
}
