package import Host

/// Programs that this package builds, as the tests find them: beside the test runner.
package enum BuiltProgram {
    /// The path of the built program `name`; make it a dependency of the test target in the manifest.
    package static func path(_ name: String) throws(HostError) -> String {
        SmallFile.parent(of: try Machine.executablePath()) + "/" + name
    }
}
