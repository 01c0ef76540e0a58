/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* A small owner of pointers, references, nested types, static members. */
struct Account {
    struct Entry {
        long amount;
        Entry *next;
        bool open;
    };

    Entry *first = nullptr;
    long balance = 0;
    static long accounts;

    void book(Entry &e)
    {
        e.next = first; /* T: Account::Entry.next; Account.first */
        first = &e; /* T: Account.first; Owner<Account>.object */
        balance += e.amount; /* T: Account.balance; Account::Entry.amount */
        accounts++; /* T: long int; long */
    }
};

long Account::accounts;

template <typename T> struct Owner {
    T *object;
    int uses;

    T *operator->()
    {
        uses++; /* T: Owner<Account>.uses */
        return object; /* T: Owner<Account>.object */
    }
};

__attribute__((noinline)) long total(Owner<Account> &o)
{
    long sum = 0;

    for (Account::Entry *e = o->first; e; /* T: Account.first; Owner<Account>.object */
         e = e->next) { /* T: Account::Entry.next */
        if (e->open) /* T: Account::Entry.open */
            sum += e->amount; /* T: Account::Entry.amount */
        e->open = false; /* T: Account::Entry.open */
    }
    o->balance = sum; /* T: Account.balance */
    return sum;
}

__attribute__((noinline)) void book(Account *a, Account::Entry *e, int n)
{
    for (int i = 0; i < n; i++) {
        e[i].open = true; /* T: Account::Entry.open; Account.first; Account.balance; long int; long */
        a->book(e[i]);
    }
}

int main()
{
    static Account account;
    static Account::Entry entries[30];
    Owner<Account> owner = {&account, 0};

    book(&account, entries, 30);
    return total(owner) + account.balance == 12345; /* T: Account.balance */
}
