//! `garson user`: people who sign in to the panel, for operators.

use super::command::{CommandError, Outcome, failed, print_line, with_app};
use super::secret_input::read_secret;
use crate::config::Settings;
use crate::flow::By;
use crate::flow::admin::randomness::random_password;
use crate::flow::admin::users::NewUser;
use crate::flow::admin::{accounts, invitations, openid, second_factor, user_passwords, users};
use crate::flow::read::operator;
use clap::Subcommand;
use garson_core::channel::Language;
use garson_core::id::UserId;
use garson_core::permission::RestaurantScope;
use garson_core::role::Role;
use serde_json::json;
use std::path::PathBuf;

#[derive(Subcommand)]
pub enum UserCommand {
    /// List the users of an account
    List {
        /// The e-mail address of the account
        #[arg(long)]
        account: String,
        /// Print JSON, one object per line
        #[arg(long)]
        json: bool,
    },
    /// Invite a person to an account, for all restaurants; prints the link unless it is sent by e-mail
    Invite {
        /// The e-mail address of the account
        #[arg(long)]
        account: String,
        /// The person's e-mail address
        #[arg(long)]
        email: String,
        /// owner, manager, shift, accountant, developer or read-only
        #[arg(long, default_value = "owner")]
        role: String,
        /// The person's name
        #[arg(long, default_value = "")]
        name: String,
        /// The person's language: tr or en
        #[arg(long, default_value = "tr")]
        language: String,
    },
    /// Set a new password for a user; ends all sessions of the user
    ResetPassword {
        /// The user's e-mail address
        #[arg(long)]
        email: String,
        /// A file whose first line is the password; - reads standard input. Without it, one is generated and printed
        #[arg(long, value_name = "FILE")]
        password_file: Option<PathBuf>,
    },
    /// Remove the second factor of a user who has lost it
    DisableTwoFactor {
        /// The user's e-mail address
        #[arg(long)]
        email: String,
    },
    /// Forget who a user is for the OpenID Connect provider; the next sign-in with the e-mail address connects the identity
    ForgetOpenid {
        /// The user's e-mail address
        #[arg(long)]
        email: String,
    },
}

pub fn run(settings: &Settings, command: UserCommand) -> Outcome {
    with_app(settings, |app| async move {
        match command {
            UserCommand::List { account, json } => {
                let account = accounts::by_email(&app, &account).await.map_err(failed)?;
                for user in users::list(&app, account.id).await.map_err(failed)? {
                    let two_factor = if user.has_two_factor { "two factors" } else { "-" };
                    let state = match (user.is_disabled, user.has_accepted()) {
                        (true, _) => "disabled",
                        (false, true) => "active",
                        (false, false) => "invited",
                    };
                    print_line(&if json {
                        json!({
                            "userId": user.id, "email": user.email, "name": user.name, "role": user.role,
                            "state": state, "hasTwoFactor": user.has_two_factor, "lastSignInAt": user.last_sign_in_at,
                        })
                        .to_string()
                    } else {
                        let role = user.role.as_str();
                        format!(
                            "{}  {}  {role}  {state}  {two_factor}  {}",
                            user.id, user.email, user.name
                        )
                    });
                }
            }
            UserCommand::Invite {
                account,
                email,
                role,
                name,
                language,
            } => {
                let account = accounts::by_email(&app, &account).await.map_err(failed)?;
                let role = Role::named(&role).ok_or_else(|| {
                    let roles = Role::ALL.map(Role::as_str).join(", ");
                    CommandError(format!("{role} is not a role; there are: {roles}"))
                })?;
                let language = Language::named(&language).ok_or_else(|| {
                    CommandError(format!("{language} is not a language; there are: tr, en"))
                })?;
                let new = NewUser {
                    email,
                    name,
                    language,
                    role,
                    restaurants: RestaurantScope::All,
                };
                let running = operator::server_addresses(&app).await.map_err(failed)?;
                let listens = running
                    .first()
                    .map_or_else(|| app.settings.listen.clone(), ToString::to_string);
                let (id, base) = (UserId::at(app.now()), format!("http://{listens}"));
                let by = By::operator(account.id, "user invite");
                let invited = invitations::invite(&app, by, &account, id, new, &base)
                    .await
                    .map_err(failed)?;
                print_line(&format!("User      {}  {}", invited.user.id, invited.user.email));
                print_line(&match invited.link {
                    Some(link) => format!(
                        "Link      {}   (shown this once; valid for 7 days)",
                        link.expose()
                    ),
                    None => "Link      sent by e-mail".to_owned(),
                });
            }
            UserCommand::ResetPassword { email, password_file } => {
                let user = users::by_email(&app, &email).await.map_err(failed)?;
                let (password, shown) = match password_file {
                    Some(file) => (read_secret(&file)?, "as given".to_owned()),
                    None => {
                        let made = random_password().map_err(failed)?;
                        let shown = format!("{}   (shown this once)", made.expose());
                        (made, shown)
                    }
                };
                user_passwords::reset(&app, "user reset-password", &user, password)
                    .await
                    .map_err(failed)?;
                print_line(&format!("E-mail    {}", user.email));
                print_line(&format!("Password  {shown}"));
            }
            UserCommand::DisableTwoFactor { email } => {
                let user = users::by_email(&app, &email).await.map_err(failed)?;
                let by = By::operator(user.account_id, "user disable-two-factor");
                second_factor::remove(&app, by, &user).await.map_err(failed)?;
                print_line("two factors are off");
            }
            UserCommand::ForgetOpenid { email } => {
                let user = users::by_email(&app, &email).await.map_err(failed)?;
                let by = By::operator(user.account_id, "user forget-openid");
                openid::forget(&app, by, &user).await.map_err(failed)?;
                print_line("the identity is forgotten");
            }
        }
        Ok(())
    })
}
