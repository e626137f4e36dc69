/// What a desktop channel needs to know.
package struct DesktopForm: Hashable, Sendable {
    /// The name a server shows, and the prefix of tags.
    package var appName: String
    /// The desktop file's name without `.desktop`: what desktops group by and take the icon from.
    package var desktopEntry: String
    /// How long one call to the server may take.
    package var deadline: Duration

    /// A desktop channel; left out, that of Belfry with a deadline of 2 s.
    package init(
        appName: String = "Belfry", desktopEntry: String = "belfry", deadline: Duration = .seconds(2)
    ) {
        self.appName = appName
        self.desktopEntry = desktopEntry
        self.deadline = deadline
    }
}
